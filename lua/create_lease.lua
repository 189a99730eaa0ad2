--[[
  create_lease: creates a lease that expires at now + ttl. The caller chooses a random id: sent again with it,
  the script finds the lease.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] lease_id
  ARGV[2] process_id
  ARGV[3] ttl            µs
  ARGV[4] metadata       JSON object, or empty
  ARGV[5] max_leases
  Returns {"result":"ok","lease":…} | {"result":"again"}
  Errors  NO_NAMESPACE | LIMIT max_leases
]]
local lease_id, process_id, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3])
local metadata, max_leases = ARGV[4], tonumber(ARGV[5])

if not redis.call('ZSCORE', leases, lease_id) then
  if redis.call('ZCARD', leases) >= max_leases then return redis.error_reply('LIMIT max_leases') end
  redis.call('HSET', lease_key(lease_id), 'process_id', process_id, 'created_at', int(now),
    'metadata', metadata)
  redis.call('ZADD', leases, now + ttl, lease_id)
  redis.call('ZADD', created, now, lease_id)
  redis.call('ZADD', process_key(process_id), now, lease_id)
  announce_expiry(lease_id)
end
return '{"result":"ok","lease":' .. lease_json(lease_id) .. '}'
