--[[
  revoke_lease: ends a lease now, and releases all that it holds. The first step ends it, whatever is still
  to be cleared away: it moves its expiry to 0.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] lease_id
  Returns {"result":"done"} | {"result":"again"}
  Errors  NO_NAMESPACE | NO_LEASE
]]
local lease_id = ARGV[1]

local expires_at = tonumber(redis.call('ZSCORE', leases, lease_id))
if not expires_at or (expires_at <= now and expires_at > 0) then
  return redis.error_reply(NO_LEASE)
end
redis.call('ZADD', leases, 0, lease_id)
local ended = end_lease(lease_id)
settle()
if not ended then
  -- In case nobody calls again.
  redis.call('PUBLISH', namespace .. ':nodes', '{"sweep_in":0}')
  return AGAIN
end
return '{"result":"done"}'
