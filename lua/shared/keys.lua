-- The keys that every script needs; README.md says what each holds. All share the hash tag of KEYS[1],
-- so one script may touch them in a cluster too.
local namespace = KEYS[1]
local leases = namespace .. ':leases'

local function semaphore_key(name) return namespace .. ':semaphore:' .. name end
local function lease_key(lease_id) return namespace .. ':lease:' .. lease_id end

-- A Redis whose memory is full refuses the first write of a script if it may take memory, and no later one. What
-- gives something back, or keeps a lease alive, begins with a write that never does.
local allowed_when_full = false
local function allow_when_full()
  if not allowed_when_full then redis.call('DEL', namespace .. ':none') end
  allowed_when_full = true
end

local AGAIN = '{"result":"again"}'

-- Error replies: a code that the client knows, a space, a text for people.
local NO_NAMESPACE = 'NO_NAMESPACE namespace not found'
local NO_SEMAPHORE = 'NO_SEMAPHORE semaphore not found'
local NO_LEASE = 'NO_LEASE lease not found'
local NO_WAITER = 'NO_WAITER waiter not found'
local NAMESPACE_EXISTS = 'NAMESPACE_EXISTS namespace already exists'
local SEMAPHORE_EXISTS = 'SEMAPHORE_EXISTS semaphore already exists'
local VERSION_MISMATCH = 'VERSION_MISMATCH version mismatch'
local WEIGHT_EXCEEDS_PERMITS = 'WEIGHT_EXCEEDS_PERMITS weight exceeds semaphore permits'
local PERMITS_BELOW_HOLDS = 'PERMITS_BELOW_HOLDS permits less than the active holds'
local REORDERED = 'REORDERED the queue has another discipline since'

-- Lua's tostring keeps 14 digits only, and Redis may write a number that it is given as 1e+15. Numbers
-- that are read back as text are written by these. %d is exact to 2^53, and far cheaper than %.0f.
local function int(n) return string.format('%d', n) end
local function ns(us) return string.format('%d000', us) end
