--[[
  create_namespace: creates a namespace, once. First it clears away what a deletion that broke off has left.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] request        the id of the call: a retry has the same
  ARGV[2] name
  ARGV[3] description
  ARGV[4] metadata       JSON object, or empty
  Returns {"result":"ok","namespace":…} | {"result":"again"}
  Errors  NAMESPACE_EXISTS
]]
local request, name, description, metadata = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

if redis.call('EXISTS', namespace) == 1 then
  if redis.call('HGET', namespace, 'request') == request then return namespace_reply() end
  return redis.error_reply(NAMESPACE_EXISTS)
end
if not clear_namespace() then return AGAIN end
redis.call('HSET', namespace, 'name', name, 'description', description, 'metadata', metadata,
  'version', 1, 'created_at', int(now), 'updated_at', int(now), 'request', request)
return namespace_reply()
