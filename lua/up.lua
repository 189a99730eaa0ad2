--[[
  up: gives one permit back that a `down` has taken, whoever did, then admits whoever now fits. Where
  none is taken the semaphore has one permit more from now on.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] ticket         '<node>:<number>': asking again with it is the same call
  ARGV[3] undoes         the ticket of a `down` that nobody waits for any more: only where it took a
                         permit is one given back; empty: whatever was taken
  ARGV[…] tickets        of calls whose answers the node has heard
  Returns {"result":"released","semaphore":…} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND semaphore not found
          LIMIT permits
]]
local name, ticket, undoes = ARGV[1], ARGV[2], ARGV[3]
local answered = { select(4, unpack(ARGV)) }

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if lease_is_due() then
  if not engine().sweep() then return AGAIN end
end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end

touch(s)
if not is_done(s, ticket) and (undoes == '' or is_done(s, undoes)) then
  if not drop_ownerless(s) then
    if s.permits >= MAX_PERMITS then return redis.error_reply('LIMIT permits') end
    change_permits(s, 1)
    if stands_in(s) then set_surplus(s, surplus(s) + 1) end
  end
  remember(s, ticket)
  if undoes ~= '' then heard(s, { undoes }) end
  if s.waiting_count > 0 then engine().admit(s) end
end
heard(s, answered)
save()
return answer('released', s)
