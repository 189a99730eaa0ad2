--[[
  get_namespace: a namespace's record.

  KEYS[1] grackle:{ns}   hash   the namespace
  Returns {"result":"ok","namespace":…}
  Errors  NOTFOUND namespace not found
]]
if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
return namespace_reply()
