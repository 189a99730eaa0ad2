--[[
  acquire: takes the permits for the lease, or queues, in one step. A ticket stands for one call:
  asking again with it finds what the first asking did, and takes the call back from aside.

  KEYS[1] grackle:{ns}     hash   the namespace
  ARGV[1] semaphore        its name
  ARGV[2] lease_id
  ARGV[3] weight
  ARGV[4] share            of the permits, for the process: where the discipline is WEIGHTED
  ARGV[5] metadata         JSON object, or empty
  ARGV[6] ticket           '<node>:<number>'
  ARGV[7] timeout          how long to wait, in µs; 0 answers at once
  ARGV[8] listening        '1' where the node hears its channel; else the call stands aside at first
  ARGV[9] max_holders
  ARGV[10] max_waiters     the semaphore may have a bound of its own beside it
  ARGV[11] max_holds       and waits, of the lease
  ARGV[12] explain         '1' where an answer of "unavailable" is to say why; else left out
  Returns {"result":"acquired","fencing_token":…,"semaphore":…}
          | {"result":"unavailable","semaphore":…,"waiting":…?}
          | {"result":"waiting","sweep_in":µs} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND lease not found | NOTFOUND semaphore not found
          TOOHEAVY weight exceeds semaphore permits
          LIMIT max_holders | LIMIT max_waiters | LIMIT max_holds_per_lease | LIMIT max_calls_per_wait
]]
local name, lease_id, weight, share, metadata = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local ticket, timeout, listening = ARGV[6], tonumber(ARGV[7]), ARGV[8] == '1'
local max_holders, max_waiters, max_holds = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local explain = ARGV[12] == '1'

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if lease_is_due() then
  if not engine().sweep() then return AGAIN end
end
if not redis.call('ZSCORE', leases, lease_id) then return redis.error_reply(NO_LEASE) end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end

local key = lease_key(lease_id)
local fields = redis.call('HMGET', key, 'hold:' .. name, 'wait:' .. name)

-- Nobody waits, nothing is held yet, it fits: the common case, told apart to be cheap.
if s.waiting_count == 0 and not fields[1] and not fields[2]
  and s.active_holds + weight <= s.permits and s.active_holders_count < max_holders
  and redis.call('HLEN', key) - LEASE_FIELDS < max_holds then
  touch(s)
  local token = take(s, lease_id, nil, { weight = weight, metadata = metadata, calls = { ticket } })
  save()
  return acquired(s, token)
end

share = tonumber(share)
local e = engine()
if not e.sweep() then return AGAIN end
-- Passes over a head whose node has gone, so that nobody is refused for its sake.
if s.waiting_count > 0 then e.admit(s) end
fields = redis.call('HMGET', key, 'hold:' .. name, 'wait:' .. name)
local old = fields[1] and cjson.decode(fields[1])
local w = fields[2] and e.wait_from(fields[2])

if old and e.claim(s, lease_id, old, ticket) then
  save()
  return acquired(s, old.fencing_token)
end
local known = w and e.call_of(w, ticket)
if known then
  -- The same call again: what it and any later one asked for stands.
  weight, share, metadata = w.weight, w.share, w.metadata
elseif weight > s.permits then
  return e.fail(TOO_HEAVY)
end
touch(s)

local need = weight - (old and old.weight or 0)
local free = s.active_holds + need <= s.permits
local head = s.waiting_count > 0
  and redis.call('ZRANGE', s.key .. ':queue', 0, w and 1 or 0, 'WITHSCORES') or {}
local joins = not w
if joins then
  w = { weight = weight, share = share, queued_at = now, calls = {} }
  if head[1] or (timeout > 0 and not free) then e.stand(s, lease_id, w, old) end
elseif not known then
  e.reweigh(w, weight, share)
end
-- Back from aside, it stands where it would be by now.
if not joins and listening and w.start and not w.stands.listens then
  w.weight, w.share = weight, share
  e.take_turn(s, lease_id, w, w.start)
end
local other = head[1] == lease_id and 3 or 1
local ahead = head[other] and tonumber(head[other + 1]) < w.place
local fits = need <= 0 or (not ahead and free)
if not fits and timeout == 0 then
  save()
  if not explain then return answer('unavailable', s) end
  if not w.place then e.stand(s, lease_id, w, old) end
  return answer('unavailable', s, explanation()(s, lease_id, w.place, weight))
end

if joins then
  read_queue(s)
  if s.max_waiters > 0 then max_waiters = math.min(max_waiters, s.max_waiters) end
  if not old and redis.call('HLEN', key) - LEASE_FIELDS >= max_holds then
    return e.fail('LIMIT max_holds_per_lease')
  elseif fits and not old and s.active_holders_count >= max_holders then
    return e.fail('LIMIT max_holders')
  elseif not fits and redis.call('ZCARD', s.key .. ':weights') >= max_waiters then
    return e.fail('LIMIT max_waiters')
  end
end
if known then
  known.aside = known.aside and not listening
else
  e.forget_over(w)
  if #w.calls >= e.MAX_CALLS then return e.fail('LIMIT max_calls_per_wait') end
  w.weight, w.share, w.metadata = weight, share, metadata
  table.insert(w.calls, { ticket = ticket, deadline_at = now + timeout, aside = not listening })
end
if fits then
  local token = e.grant(s, lease_id, old, w, ticket)
  -- Permits freed, or a place that holds nobody up any more.
  if need < 0 or w.stands then e.admit(s) end
  save()
  return acquired(s, token)
end
local stood = w.stands
if joins then
  if s.waiting_count == 0 then e.measure(s) end
  s.next_place, s.queue_changed = s.next_place + 1, true
end
e.place(s, lease_id, w)
-- It may have held up those that stand before it now.
if stood and w.place > stood.place then e.admit(s) end
save()
return '{"result":"waiting","sweep_in":' .. e.sweep_in() .. '}'
