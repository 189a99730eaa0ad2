--[[
  down: takes one permit for nobody in particular, where it is free and nobody waits for it. What is
  taken no lease ends: only an `up` gives it back.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] ticket         '<node>:<number>': asking again with it is the same call
  ARGV[…] tickets        of calls whose answers the node has heard
  Returns {"result":"acquired","semaphore":…} | {"result":"unavailable","semaphore":…}
          | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND semaphore not found
]]
local name, ticket = ARGV[1], ARGV[2]
local answered = { select(3, unpack(ARGV)) }

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if lease_is_due() then
  if not engine().sweep() then return AGAIN end
end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
if s.waiting_count > 0 then
  local e = engine()
  if not e.sweep() then return AGAIN end
  -- Passes over a head whose node has gone, so that nobody is refused for its sake.
  e.admit(s)
end

local done = is_done(s, ticket)
if not done then
  touch(s)
  if s.waiting_count == 0 and s.active_holds < s.permits then
    hold_ownerless(s, 1)
    remember(s, ticket)
    done = true
  end
end
-- Last: a full Redis refuses what takes memory only where that is the first write.
heard(s, answered)
save()
return answer(done and 'acquired' or 'unavailable', s)
