--[[
  delete_namespace: deletes a namespace and everything inside, and tells its waiters. The record goes first,
  so nothing inside can be used from then on; the rest goes in bounded steps.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] begun          '1' from the second step on: a namespace that exists then is a new one
  Returns {"result":"done"} | {"result":"again"}
]]
local begun = ARGV[1] == '1'

if begun and redis.call('EXISTS', namespace) == 1 then return '{"result":"done"}' end
redis.call('DEL', namespace)
if not clear_namespace() then return AGAIN end
return '{"result":"done"}'
