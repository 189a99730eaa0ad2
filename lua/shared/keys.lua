-- The keys that every script needs; README.md says what each holds. They share KEYS[1]'s hash tag,
-- so one script may touch them all in a cluster too.
local namespace = KEYS[1]
local leases = namespace .. ':leases'

local function semaphore_key(name) return namespace .. ':semaphore:' .. name end
local function lease_key(lease_id) return namespace .. ':lease:' .. lease_id end

local AGAIN = '{"result":"again"}'
local NO_NAMESPACE = 'NOTFOUND namespace not found'
local NO_SEMAPHORE = 'NOTFOUND semaphore not found'
local NO_LEASE = 'NOTFOUND lease not found'
local TOO_HEAVY = 'TOOHEAVY weight exceeds semaphore permits'

-- Lua's own tostring keeps 14 digits only, and Redis may write a number it is given as 1e+15: what
-- is read back as text is written by these. %d is exact to 2^53, and far cheaper than %.0f.
local function int(n) return string.format('%d', n) end
local function ns(us) return string.format('%d000', us) end
