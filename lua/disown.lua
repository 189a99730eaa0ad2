--[[
  disown: turns one permit that a proxy lease holds into an ownerless hold, which no lease ends, and ends the
  lease. (What it holds beyond that is handed on.)

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] lease_id       a retry has the same
  ARGV[…] acknowledged   tickets of calls whose answers have come
  Returns {"result":"acquired","semaphore":…} | {"result":"again"}
  Errors  NO_NAMESPACE | NO_SEMAPHORE | NO_LEASE
]]
local name, lease_id = ARGV[1], ARGV[2]
local acknowledged = { select(3, unpack(ARGV)) }

local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end

if not is_done(s, lease_id) then
  local hold = redis.call('ZSCORE', leases, lease_id)
    and redis.call('HGET', lease_key(lease_id), 'hold:' .. name)
  if not hold then return redis.error_reply(NO_LEASE) end
  drop_hold(s, lease_id, hold_weight(hold))
  local early = surplus(s)
  if early > 0 then
    set_surplus(s, early - 1)
    change_permits(s, -1)
    refuse_heavy(s)
  else
    take_ownerless(s, 1)
  end
  remember(s, lease_id)
  touched[name] = true
  end_lease(lease_id)
end
acknowledge(s, acknowledged)
settle()
return answer('acquired', s)
