--[[
  get_semaphore_waiter: a lease's wait on a semaphore, and why it waits.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] lease_id
  Returns {"result":"ok","waiter":…,"waiting":…} | {"result":"again"}
  Errors  NO_NAMESPACE | NO_LEASE | NO_SEMAPHORE | NO_WAITER
]]
local name, lease_id = ARGV[1], ARGV[2]

if not redis.call('ZSCORE', leases, lease_id) then return redis.error_reply(NO_LEASE) end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
local text = redis.call('HGET', lease_key(lease_id), 'wait:' .. name)
if not text then return redis.error_reply(NO_WAITER) end

local w = wait_from(text)
local rank = redis.call('ZRANK', s.key .. ':queue', lease_id)
return '{"result":"ok","waiter":' .. waiter_json(name, lease_id, rank and rank + 1 or 0)
  .. ',"waiting":' .. explanation_json(s, lease_id, w.score, w.weight) .. '}'
