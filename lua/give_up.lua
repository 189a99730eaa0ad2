--[[
  give_up: a call's time is over. Decides in one step whether it was granted or timed out.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] lease_id
  ARGV[3] ticket
  Returns {"result":"acquired","fencing_token":…,"semaphore":…} | {"result":"timed_out","semaphore":…}
          | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND lease not found | NOTFOUND semaphore not found
]]
local name, lease_id, ticket = ARGV[1], ARGV[2], ARGV[3]

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if not sweep() then return AGAIN end
if not redis.call('ZSCORE', leases, lease_id) then return redis.error_reply(NO_LEASE) end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end

local fields = redis.call('HMGET', lease_key(lease_id), 'hold:' .. name, 'wait:' .. name)
local hold = fields[1] and cjson.decode(fields[1])
if hold and claim(s, lease_id, hold, ticket) then return acquired(s, hold.fencing_token) end
local w = fields[2] and wait_from(fields[2])
if w and call_of(w, ticket) then
  drop_call(s, lease_id, w, ticket)
  touched[name] = true
end
settle()
return answer('timed_out', s)
