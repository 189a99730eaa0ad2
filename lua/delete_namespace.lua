--[[
  delete_namespace: removes a namespace and everything inside; its waiters are told.

  The record goes first, so nothing inside is seen from then on; the rest goes in bounded steps.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] begun          '1' from the second step on: one made anew meanwhile is another's
  Returns {"result":"done"} | {"result":"again"}
]]
local begun = ARGV[1] == '1'

if begun and redis.call('EXISTS', namespace) == 1 then return '{"result":"done"}' end
redis.call('DEL', namespace)
if not clear_namespace() then return AGAIN end
return '{"result":"done"}'
