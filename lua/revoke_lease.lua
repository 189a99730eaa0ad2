--[[
  revoke_lease: ends a lease now; all that it holds is released at once.

  It is over with the first step, whatever is still to be cleared away: its end is moved to 0.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] lease_id
  Returns {"result":"done"} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND lease not found
]]
local lease_id = ARGV[1]

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
local expires_at = tonumber(redis.call('ZSCORE', leases, lease_id))
if not expires_at or (expires_at <= now and expires_at > 0) then
  return redis.error_reply(NO_LEASE)
end
redis.call('ZADD', leases, 0, lease_id)
local ended = end_lease(lease_id)
settle()
if not ended then
  -- Should nobody come to call again.
  redis.call('PUBLISH', namespace .. ':nodes', '{"sweep_in":0}')
  return AGAIN
end
return '{"result":"done"}'
