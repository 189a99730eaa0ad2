--[[
  refresh_lease: makes the lease expire at now + ttl, sooner or later than before: one write, however many
  holds it has. A lease that has expired is not revived.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] lease_id
  ARGV[2] ttl            µs
  Returns {"result":"ok","lease":…}
  Errors  NO_NAMESPACE | NO_LEASE
]]
local lease_id, ttl = ARGV[1], tonumber(ARGV[2])

local expires_at = expiry_of(lease_id)
if not expires_at then return redis.error_reply(NO_LEASE) end
redis.call('ZADD', leases, now + ttl, lease_id)
if now + ttl < expires_at then announce_expiry(lease_id) end
return '{"result":"ok","lease":' .. lease_json(lease_id) .. '}'
