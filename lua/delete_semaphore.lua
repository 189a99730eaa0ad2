--[[
  delete_semaphore: removes a semaphore; its holders are dropped, its waiters told.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] begun          '1' from the second step on: one made anew meanwhile is another's
  Returns {"result":"done","semaphore":…?} | {"result":"again","semaphore":…?}, what it was in its
          last moment, in the step that removes the record
  Errors  NOTFOUND namespace not found
]]
local name, begun = ARGV[1], ARGV[2] == '1'

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if begun and redis.call('EXISTS', semaphore_key(name)) == 1 then return '{"result":"done"}' end
local s = semaphore(name)
local was = s and ',"semaphore":' .. semaphore_json(s) .. '}' or '}'
remove(name)
redis.call('ZREM', semaphores, name)
if not purge(name, NO_SEMAPHORE) then return string.sub(AGAIN, 1, -2) .. was end
return '{"result":"done"' .. was
