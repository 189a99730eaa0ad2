--[[
  disown: one permit of what a lease holds is from now on held by nobody in particular, so that no lease
  ends it; the lease itself ends. (More than one, somebody else has asked for under it: that is handed on.)

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] lease_id       asking again with it is the same call
  ARGV[…] tickets        of calls whose answers the node has heard
  Returns {"result":"acquired","semaphore":…} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND semaphore not found | NOTFOUND lease not found
]]
local name, lease_id = ARGV[1], ARGV[2]
local answered = { select(3, unpack(ARGV)) }

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if not sweep() then return AGAIN end
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
    refuse(s)
  else
    hold_ownerless(s, 1)
  end
  remember(s, lease_id)
  touched[name] = true
  end_lease(lease_id)
end
heard(s, answered)
settle()
return answer('acquired', s)
