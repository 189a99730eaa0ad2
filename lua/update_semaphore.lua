--[[
  update_semaphore: replaces description, permits and metadata, whole. Raised permits admit at
  once; lowered ones end the waits that they can never satisfy.

  KEYS[1] grackle:{ns}     hash   the namespace
  ARGV[1] request          the call's own id: asking again with it is the same call
  ARGV[2] semaphore        its name
  ARGV[3] expected_version
  ARGV[4] permits
  ARGV[5] description
  ARGV[6] metadata         JSON object, or empty
  Returns {"result":"ok","semaphore":…} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND semaphore not found | MISMATCH version mismatch
          HELD permits less than the active holds
]]
local request, name, expected_version = ARGV[1], ARGV[2], tonumber(ARGV[3])
local permits, description, metadata = tonumber(ARGV[4]), ARGV[5], ARGV[6]

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

s.permits, s.about = permits, about_json(version + 1, created_at, description, metadata)
s.updated = true
redis.call('HSET', s.key, 'permits', int(permits), 'about', s.about, 'request', request)
refuse(s)
touched[name] = true
settle()
return answer('ok', s)
