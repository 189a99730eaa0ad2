--[[
  release: ends the lease's hold on a semaphore, and admits the waiters that now fit.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] lease_id
  Returns {"result":"released","semaphore":…} | {"result":"not_held","semaphore":…}
          | {"result":"again"}
  Errors  NO_NAMESPACE | NO_LEASE | NO_SEMAPHORE
]]
local name, lease_id = ARGV[1], ARGV[2]

if not redis.call('ZSCORE', leases, lease_id) then return redis.error_reply(NO_LEASE) end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end

note_activity(s)
local fields = redis.call('HMGET', lease_key(lease_id), 'hold:' .. name, 'wait:' .. name)
local hold = fields[1]
if hold then
  drop_hold(s, lease_id, hold_weight(hold))
  if s.waiting_count > 0 or fields[2] then
    local q = queue()
    if fields[2] then q.stop_growing(s, lease_id, q.wait_from(fields[2])) end
    q.admit(s)
  end
end
save()
return answer(hold and 'released' or 'not_held', s)
