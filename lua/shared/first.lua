-- Has a lease ended that nobody has swept yet?
local function lease_is_due()
  return redis.call('ZCOUNT', leases, '-inf', int(now)) > 0
end

-- Fields of a lease's hash that are neither holds nor waits.
local LEASE_FIELDS = 3
