--[[
  watch: a node watches the semaphore. For a time, until it asks again, every change of what the
  semaphore shows is published; and what it shows now.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  Returns {"result":"ok","at":µs,"sweep_in":µs,"semaphore":…} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND semaphore not found
]]
local name = ARGV[1]
-- Three times as long as a node takes to ask again (`RENEW_EVERY` in `watch.rs`).
local WATCHED_FOR = 30000000

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if not sweep() then return AGAIN end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
redis.call('HSET', s.key, 'watched', int(now + WATCHED_FOR))
return '{"result":"ok","at":' .. int(now) .. ',"sweep_in":' .. sweep_in()
  .. ',"semaphore":' .. semaphore_json(s) .. '}'
