--[[
  create_namespace: makes a namespace, once.

  What a deletion that was cut short has left behind is cleared away first.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] request        the call's own id: asking again with it is the same call
  ARGV[2] name
  ARGV[3] description
  ARGV[4] metadata       JSON object, or empty
  Returns {"result":"ok","namespace":…} | {"result":"again"}
  Errors  EXISTS namespace already exists
]]
local request, name, description, metadata = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

if redis.call('EXISTS', namespace) == 1 then
  if redis.call('HGET', namespace, 'request') == request then return namespace_reply() end
  return redis.error_reply('EXISTS namespace already exists')
end
if not clear_namespace() then return AGAIN end
redis.call('HSET', namespace, 'name', name, 'description', description, 'metadata', metadata,
  'version', 1, 'created_at', int(now), 'updated_at', int(now), 'request', request)
return namespace_reply()
