--[[
  update_namespace: replaces the description and the metadata.

  KEYS[1] grackle:{ns}     hash   the namespace
  ARGV[1] request          the id of the call: a retry has the same
  ARGV[2] expected_version
  ARGV[3] description
  ARGV[4] metadata         JSON object, or empty
  Returns {"result":"ok","namespace":…}
  Errors  NO_NAMESPACE | VERSION_MISMATCH
]]
local request, expected_version = ARGV[1], tonumber(ARGV[2])
local description, metadata = ARGV[3], ARGV[4]

local fields = redis.call('HMGET', namespace, 'version', 'request')
local version = tonumber(fields[1])
if not version then return redis.error_reply(NO_NAMESPACE) end
if fields[2] == request then return namespace_reply() end
if version ~= expected_version then return redis.error_reply(VERSION_MISMATCH) end
redis.call('HSET', namespace, 'description', description, 'metadata', metadata,
  'version', int(version + 1), 'updated_at', int(now), 'request', request)
return namespace_reply()
