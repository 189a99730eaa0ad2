--[[
  watch: marks the semaphore as watched, for a time: until then each change of what it shows is published.
  Returns what it shows now.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  Returns {"result":"ok","at":µs,"sweep_in":µs,"semaphore":…} | {"result":"again"}
  Errors  NO_NAMESPACE | NO_SEMAPHORE
]]
local name = ARGV[1]
-- A node renews the mark three times as often (`RENEW_WATCH_EVERY` in Rust).
local WATCHED_FOR = 30000000

local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
redis.call('HSET', s.key, 'watched', int(now + WATCHED_FOR))
return '{"result":"ok","at":' .. int(now) .. ',"sweep_in":' .. sweep_in()
  .. ',"semaphore":' .. semaphore_json(s) .. '}'
