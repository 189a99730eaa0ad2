--[[
  update_namespace: replaces description and metadata, whole.

  KEYS[1] grackle:{ns}     hash   the namespace
  ARGV[1] request          the call's own id: asking again with it is the same call
  ARGV[2] expected_version
  ARGV[3] description
  ARGV[4] metadata         JSON object, or empty
  Returns {"result":"ok","namespace":…}
  Errors  NOTFOUND namespace not found | MISMATCH version mismatch
]]
local request, expected_version = ARGV[1], tonumber(ARGV[2])
local description, metadata = ARGV[3], ARGV[4]

local fields = redis.call('HMGET', namespace, 'version', 'request')
local version = tonumber(fields[1])
if not version then return redis.error_reply(NO_NAMESPACE) end
if fields[2] == request then return namespace_reply() end
if version ~= expected_version then return redis.error_reply('MISMATCH version mismatch') end
redis.call('HSET', namespace, 'description', description, 'metadata', metadata,
  'version', int(version + 1), 'updated_at', int(now), 'request', request)
return namespace_reply()
