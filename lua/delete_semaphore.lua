--[[
  delete_semaphore: removes a semaphore; its holders are dropped, its waiters told.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] begun          '1' from the second step on: one made anew meanwhile is another's
  Returns {"result":"done"} | {"result":"again"}
  Errors  NOTFOUND namespace not found
]]
local name, begun = ARGV[1], ARGV[2] == '1'

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if begun and redis.call('EXISTS', semaphore_key(name)) == 1 then return '{"result":"done"}' end
remove(name)
redis.call('ZREM', semaphores, name)
if not purge(name, NO_SEMAPHORE) then return AGAIN end
return '{"result":"done"}'
