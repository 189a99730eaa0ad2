--[[
  refresh_proxy_leases: makes each of these leases, if it has not expired, expire at now + ttl. A node refreshes its
  proxy leases so.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] ttl            µs
  ARGV[…] lease_ids
  Returns {"result":"done"}
]]
local ttl = tonumber(ARGV[1])

for _, lease_id in ipairs({ select(2, unpack(ARGV)) }) do
  local expires_at = tonumber(redis.call('ZSCORE', leases, lease_id))
  if expires_at and expires_at > now then redis.call('ZADD', leases, int(now + ttl), lease_id) end
end
return '{"result":"done"}'
