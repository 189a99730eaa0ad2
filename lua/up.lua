--[[
  up: gives back one permit that a `down` of anybody has taken, and admits the waiters that now fit. If no
  permit is taken, the semaphore has one permit more from now on.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] ticket         '<node>:<number>': a retry has the same
  ARGV[3] undoes         the ticket of a `down` whose caller is gone: a permit is given back only if that
                         call took one; empty: in any case
  ARGV[…] acknowledged   tickets of calls whose answers have come
  Returns {"result":"released","semaphore":…} | {"result":"again"}
  Errors  NO_NAMESPACE | NO_SEMAPHORE | LIMIT permits
]]
local name, ticket, undoes = ARGV[1], ARGV[2], ARGV[3]
local acknowledged = { select(4, unpack(ARGV)) }

local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end

note_activity(s)
if not is_done(s, ticket) and (undoes == '' or is_done(s, undoes)) then
  if not drop_ownerless(s) then
    if s.permits >= MAX_PERMITS then return redis.error_reply('LIMIT permits') end
    change_permits(s, 1)
    if has_proxy_holder(s) then set_surplus(s, surplus(s) + 1) end
  end
  remember(s, ticket)
  if undoes ~= '' then acknowledge(s, { undoes }) end
  if s.waiting_count > 0 then queue().admit(s) end
end
acknowledge(s, acknowledged)
save()
return answer('released', s)
