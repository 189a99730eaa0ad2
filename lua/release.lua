--[[
  release: ends the lease's hold on a semaphore, then admits whoever now fits.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] lease_id
  Returns {"result":"released","semaphore":…} | {"result":"not_held","semaphore":…}
          | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND lease not found | NOTFOUND semaphore not found
]]
local name, lease_id = ARGV[1], ARGV[2]

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if lease_is_due() then
  if not engine().sweep() then return AGAIN end
end
if not redis.call('ZSCORE', leases, lease_id) then return redis.error_reply(NO_LEASE) end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end

touch(s)
local fields = redis.call('HMGET', lease_key(lease_id), 'hold:' .. name, 'wait:' .. name)
local hold = fields[1]
if hold then
  drop_hold(s, lease_id, hold_weight(hold))
  if s.waiting_count > 0 or fields[2] then
    local e = engine()
    if fields[2] then e.grow_no_more(s, lease_id, e.wait_from(fields[2])) end
    e.admit(s)
  end
end
save()
return answer(hold and 'released' or 'not_held', s)
