--[[
  update_semaphore: replaces the description, the permits and the metadata. Raised permits admit waiters at
  once; lowered ones end the waits that are heavier; another discipline re-orders all waits.

  KEYS[1] grackle:{ns}     hash   the namespace
  ARGV[1] request          the id of the call: a retry has the same
  ARGV[2] semaphore        its name
  ARGV[3] expected_version
  ARGV[4] permits
  ARGV[5] description
  ARGV[6] metadata         JSON object, or empty
  ARGV[7] discipline       of its queue: 'fifo' | 'lifo' | 'weighted'; empty: as it is
  ARGV[8] max_waiters      0: no bound of its own; empty: as it is
  Returns {"result":"ok","semaphore":…} | {"result":"again"}
  Errors  NO_NAMESPACE | NO_SEMAPHORE | VERSION_MISMATCH | PERMITS_BELOW_HOLDS | LIMIT reordered_waiters
]]
local request, name, expected_version = ARGV[1], ARGV[2], tonumber(ARGV[3])
local permits, description, metadata = tonumber(ARGV[4]), ARGV[5], ARGV[6]
local discipline, max_waiters = ARGV[7], tonumber(ARGV[8])

local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
if redis.call('HGET', s.key, 'request') == request then return answer('ok', s) end
local version, created_at = version_and_creation(s.details)
if version ~= expected_version then return redis.error_reply(VERSION_MISMATCH) end
if permits < s.active_holds then return redis.error_reply(PERMITS_BELOW_HOLDS) end

read_queue_fields(s)
local before = s.discipline
s.discipline = discipline ~= '' and discipline or before
if s.discipline ~= before and redis.call('ZCARD', s.key .. ':weights') > MAX_REORDERED then
  return redis.error_reply('LIMIT reordered_waiters')
end
s.max_waiters, s.permits = max_waiters or s.max_waiters, permits
s.details = details_json(version + 1, created_at, description, metadata, s.discipline, s.max_waiters)
s.updated = true
redis.call('HSET', s.key, 'permits', int(permits), 'details', s.details, 'request', request)
write_discipline(s.key, s.discipline, s.max_waiters)
-- The caller has seen the permits that ups have added.
redis.call('HDEL', s.key, 'surplus')
if s.discipline ~= before then reorder(s) end
refuse_heavy(s)
touched[name] = true
settle()
return answer('ok', s)
