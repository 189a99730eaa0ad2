--[[
  delete_namespace: removes a namespace and everything inside; its waiters are told.

  The record goes first, so nothing inside is seen from then on; the rest goes in bounded steps.

  KEYS[1] grackle:{ns}   hash   the namespace
  Returns {"result":"done"} | {"result":"again"}
]]
redis.call('DEL', namespace)
if not clear_namespace() then return AGAIN end
return '{"result":"done"}'
