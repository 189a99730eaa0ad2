--[[
  get_semaphore: a semaphore's record.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  Returns {"result":"ok","semaphore":…} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND semaphore not found
]]
local name = ARGV[1]

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if not sweep() then return AGAIN end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
return answer('ok', s)
