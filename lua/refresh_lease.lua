--[[
  refresh_lease: the lease ends at now + ttl instead, sooner or later than before; one write,
  however many holds it has. A lease that has ended stays ended.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] lease_id
  ARGV[2] ttl            µs
  Returns {"result":"ok","lease":…} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND lease not found
]]
local lease_id, ttl = ARGV[1], tonumber(ARGV[2])

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if not sweep() then return AGAIN end
local expires_at = tonumber(redis.call('ZSCORE', leases, lease_id))
if not expires_at then return redis.error_reply(NO_LEASE) end
redis.call('ZADD', leases, now + ttl, lease_id)
if now + ttl < expires_at then announce_if_first(lease_id) end
return '{"result":"ok","lease":' .. lease_json(lease_id) .. '}'
