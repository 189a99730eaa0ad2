--[[
  delete_semaphore: deletes a semaphore, drops its holders and tells its waiters.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] begun          '1' from the second step on: a semaphore that exists then is a new one
  Returns {"result":"done","semaphore":…?} | {"result":"again","semaphore":…?}: its last state, in the step
          that deletes the record
  Errors  NO_NAMESPACE
]]
local name, begun = ARGV[1], ARGV[2] == '1'

if begun and redis.call('EXISTS', semaphore_key(name)) == 1 then return '{"result":"done"}' end
local s = semaphore(name)
local was = s and ',"semaphore":' .. semaphore_json(s) .. '}' or '}'
delete_record(name)
redis.call('ZREM', semaphores, name)
if not purge(name, NO_SEMAPHORE) then return string.sub(AGAIN, 1, -2) .. was end
return '{"result":"done"' .. was
