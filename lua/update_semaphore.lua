--[[
  update_semaphore: replaces description, permits and metadata, whole. Raised permits admit at
  once; lowered ones end the waits that they can never satisfy; another discipline re-orders all.

  KEYS[1] grackle:{ns}     hash   the namespace
  ARGV[1] request          the call's own id: asking again with it is the same call
  ARGV[2] semaphore        its name
  ARGV[3] expected_version
  ARGV[4] permits
  ARGV[5] description
  ARGV[6] metadata         JSON object, or empty
  ARGV[7] discipline       of its queue: 'fifo' | 'lifo' | 'weighted'; empty: as it is
  ARGV[8] max_waiters      0: no bound of its own; empty: as it is
  Returns {"result":"ok","semaphore":…} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND semaphore not found | MISMATCH version mismatch
          HELD permits less than the active holds | LIMIT reordered_waiters
]]
local request, name, expected_version = ARGV[1], ARGV[2], tonumber(ARGV[3])
local permits, description, metadata = tonumber(ARGV[4]), ARGV[5], ARGV[6]
local discipline, max_waiters = ARGV[7], tonumber(ARGV[8])

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if not sweep() then return AGAIN end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
if redis.call('HGET', s.key, 'request') == request then return answer('ok', s) end
local version, created_at = version_and_creation(s.about)
if version ~= expected_version then return redis.error_reply('MISMATCH version mismatch') end
if permits < s.active_holds then
  return redis.error_reply('HELD permits less than the active holds')
end

read_queue(s)
local before = s.discipline
s.discipline = discipline ~= '' and discipline or before
if s.discipline ~= before and redis.call('ZCARD', s.key .. ':weights') > MOST_REORDERED then
  return redis.error_reply('LIMIT reordered_waiters')
end
s.max_waiters, s.permits = max_waiters or s.max_waiters, permits
s.about = about_json(version + 1, created_at, description, metadata, s.discipline, s.max_waiters)
s.updated = true
redis.call('HSET', s.key, 'permits', int(permits), 'about', s.about, 'request', request)
write_discipline(s.key, s.discipline, s.max_waiters)
-- What was added meanwhile is in what the caller has seen.
redis.call('HDEL', s.key, 'surplus')
if s.discipline ~= before then reorder(s) end
refuse(s)
touched[name] = true
settle()
return answer('ok', s)
