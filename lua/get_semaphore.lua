--[[
  get_semaphore: a semaphore's record.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  Returns {"result":"ok","semaphore":…} | {"result":"again"}
  Errors  NO_NAMESPACE | NO_SEMAPHORE
]]
local name = ARGV[1]

local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
return answer('ok', s)
