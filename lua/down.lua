--[[
  down: takes one permit as an ownerless hold, if one is free and nobody waits. No lease ends that hold:
  only an `up` gives the permit back.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] ticket         '<node>:<number>': a retry has the same
  ARGV[…] acknowledged   tickets of calls whose answers have come
  Returns {"result":"acquired","semaphore":…} | {"result":"unavailable","semaphore":…}
          | {"result":"again"}
  Errors  NO_NAMESPACE | NO_SEMAPHORE
]]
local name, ticket = ARGV[1], ARGV[2]
local acknowledged = { select(3, unpack(ARGV)) }

local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
if s.waiting_count > 0 then
  if not queue().sweep() then return AGAIN end
  -- A head whose node is gone must not be the reason to refuse this call.
  queue().admit(s)
end

local done = is_done(s, ticket)
if not done then
  note_activity(s)
  if s.waiting_count == 0 and s.active_holds < s.permits then
    take_ownerless(s, 1)
    remember(s, ticket)
    done = true
  end
end
-- At the end: a full Redis refuses a write that takes memory only where it is the first one.
acknowledge(s, acknowledged)
save()
return answer(done and 'acquired' or 'unavailable', s)
