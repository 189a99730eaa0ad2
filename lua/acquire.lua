--[[
  acquire: takes the permits for the lease, or queues, in one step. A ticket stands for one call:
  asking again with it finds what the first asking did, and takes the call back from aside.

  KEYS[1] grackle:{ns}     hash   the namespace
  ARGV[1] semaphore        its name
  ARGV[2] lease_id
  ARGV[3] weight
  ARGV[4] metadata         JSON object, or empty
  ARGV[5] ticket           '<node>:<number>'
  ARGV[6] timeout          how long to wait, in µs; 0 answers at once
  ARGV[7] listening        '1' where the node hears its channel; else the call stands aside at first
  ARGV[8] max_holders
  ARGV[9] max_waiters
  ARGV[10] max_holds       and waits, of the lease
  ARGV[11] explain         '1' where an answer of "unavailable" is to say why; else left out
  Returns {"result":"acquired","fencing_token":…,"semaphore":…}
          | {"result":"unavailable","semaphore":…,"waiting":…?}
          | {"result":"waiting","sweep_in":µs} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND lease not found | NOTFOUND semaphore not found
          TOOHEAVY weight exceeds semaphore permits
          LIMIT max_holders | LIMIT max_waiters | LIMIT max_holds_per_lease | LIMIT max_calls_per_wait
]]
local name, lease_id, weight, metadata = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local ticket, timeout, listening = ARGV[5], tonumber(ARGV[6]), ARGV[7] == '1'
local max_holders, max_waiters, max_holds = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local explain = ARGV[11] == '1'

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
  weight, metadata = w.weight, w.metadata
elseif weight > s.permits then
  return e.fail(TOO_HEAVY)
end
touch(s)

local need = weight - (old and old.weight or 0)
local head = s.waiting_count > 0 and redis.call('ZRANGE', s.key .. ':queue', 0, 0, 'WITHSCORES')
-- A hold that grows goes ahead of all but those that grow too: it would wait for itself.
local before = w and w.place or old and 0 or math.huge
local ahead = head and head[1] ~= lease_id and tonumber(head[2]) < before
local fits = need <= 0 or (not ahead and s.active_holds + need <= s.permits)
if not fits and timeout == 0 then
  save()
  if not explain then return answer('unavailable', s) end
  local place = w and w.place or e.arrival(s, old)
  return answer('unavailable', s, explanation()(s, lease_id, place, weight))
end

if not w then
  if not old and redis.call('HLEN', key) - LEASE_FIELDS >= max_holds then
    return e.fail('LIMIT max_holds_per_lease')
  elseif fits and not old and s.active_holders_count >= max_holders then
    return e.fail('LIMIT max_holders')
  elseif not fits and redis.call('ZCARD', s.key .. ':weights') >= max_waiters then
    return e.fail('LIMIT max_waiters')
  end
  w = { place = e.arrival(s, old), queued_at = now, calls = {} }
end
if known then
  known.aside = known.aside and not listening
else
  e.forget_over(w)
  if #w.calls >= e.MAX_CALLS then return e.fail('LIMIT max_calls_per_wait') end
  w.weight, w.metadata = weight, metadata
  table.insert(w.calls, { ticket = ticket, deadline_at = now + timeout, aside = not listening })
end
if fits then
  local token = e.grant(s, lease_id, old, w, ticket)
  -- Permits freed, or a place that holds nobody up any more.
  if need < 0 or w.stands then e.admit(s) end
  save()
  return acquired(s, token)
end
if not w.stands then
  if s.waiting_count == 0 then e.measure(s) end
  s.next_place, s.queue_changed = s.next_place + 1, true
end
e.place(s, lease_id, w)
save()
return '{"result":"waiting","sweep_in":' .. e.sweep_in() .. '}'
