-- Has a lease ended that nobody has swept yet?
local function lease_is_due()
  local first = redis.call('ZRANGE', leases, 0, 0, 'WITHSCORES')[2]
  return first and tonumber(first) <= now
end

-- Fields of a lease's hash that are neither holds nor waits.
local LEASE_FIELDS = 3
