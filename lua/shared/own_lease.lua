-- When the lease expires, or nil where it has: for scripts that need this lease alone. They leave the ends of
-- others to the sweeps, which may take longer than this lease lives.
local function expiry_of(lease_id)
  local expires_at = tonumber(redis.call('ZSCORE', leases, lease_id))
  return expires_at and expires_at > now and expires_at or nil
end
