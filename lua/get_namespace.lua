--[[
  get_namespace: a namespace's record.

  KEYS[1] grackle:{ns}   hash   the namespace
  Returns {"result":"ok","namespace":…}
  Errors  NO_NAMESPACE
]]
return namespace_reply()
