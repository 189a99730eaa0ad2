--[[
  get_semaphore_waiter: a lease's wait on a semaphore, and why it waits.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] lease_id
  Returns {"result":"ok","waiter":…,"waiting":…} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND lease not found | NOTFOUND semaphore not found
          NOTFOUND waiter not found
]]
local name, lease_id = ARGV[1], ARGV[2]

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if not sweep() then return AGAIN end
if not redis.call('ZSCORE', leases, lease_id) then return redis.error_reply(NO_LEASE) end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
local text = redis.call('HGET', lease_key(lease_id), 'wait:' .. name)
if not text then return redis.error_reply('NOTFOUND waiter not found') end

local w = wait_from(text)
local rank = redis.call('ZRANK', s.key .. ':queue', lease_id)
return '{"result":"ok","waiter":' .. waiter_json(name, lease_id, rank and rank + 1 or 0)
  .. ',"waiting":' .. waiting_json(s, lease_id, w.place, w.weight) .. '}'
