--[[
  acquire: takes the permits for the lease, or queues the call, in one step. A ticket stands for one call:
  sent again, it finds what was done for it before, and unparks the call.

  KEYS[1] grackle:{ns}     hash   the namespace
  ARGV[1] semaphore        its name
  ARGV[2] lease_id
  ARGV[3] weight
  ARGV[4] share            what the process gets beside others, where the discipline is WEIGHTED
  ARGV[5] metadata         JSON object, or empty
  ARGV[6] ticket           '<node>:<number>'
  ARGV[7] timeout          how long to wait, in µs; 0 answers at once
  ARGV[8] listening        '1' where the node is subscribed to its channel; else the call is parked at first
  ARGV[9] max_holders
  ARGV[10] max_waiters     of any semaphore; this one may have a lower bound of its own
  ARGV[11] max_holds       holds and waits of the lease
  ARGV[12] explain         '1' where "unavailable" is to say why; else left out
  Returns {"result":"acquired","fencing_token":…,"semaphore":…}
          | {"result":"unavailable","semaphore":…,"waiting":…?}
          | {"result":"waiting","sweep_in":µs} | {"result":"again"}
  Errors  NO_NAMESPACE | NO_LEASE | NO_SEMAPHORE | WEIGHT_EXCEEDS_PERMITS | LIMIT max_holders
          LIMIT max_waiters | LIMIT max_holds_per_lease | LIMIT max_calls_per_wait
]]
local name, lease_id, weight, share, metadata = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local ticket, timeout, listening = ARGV[6], tonumber(ARGV[7]), ARGV[8] == '1'
local max_holders, max_waiters, max_holds = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local explained = ARGV[12] == '1'
-- Fields of a lease's hash that are neither holds nor waits.
local LEASE_FIELDS = 3

if not redis.call('ZSCORE', leases, lease_id) then return redis.error_reply(NO_LEASE) end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
local key = lease_key(lease_id)
local fields = redis.call('HMGET', key, 'hold:' .. name, 'wait:' .. name)

-- The common case stays cheap: nobody waits, the lease holds nothing here, and it fits.
if s.waiting_count == 0 and not fields[1] and not fields[2]
  and s.active_holds + weight <= s.permits and s.active_holders_count < max_holders
  and redis.call('HLEN', key) - LEASE_FIELDS < max_holds then
  note_activity(s)
  local token =
    take_hold(s, lease_id, nil, { weight = weight, metadata = metadata, calls = { ticket } })
  save()
  return acquired(s, token)
end

share = tonumber(share)
local q = queue()
if not q.sweep() then return AGAIN end
-- A head whose node is gone must not be the reason to refuse this call.
if s.waiting_count > 0 then q.admit(s) end
fields = redis.call('HMGET', key, 'hold:' .. name, 'wait:' .. name)
local old = fields[1] and cjson.decode(fields[1])
local w = fields[2] and q.wait_from(fields[2])

if old and q.claim(s, lease_id, old, ticket) then
  save()
  return acquired(s, old.fencing_token)
end
local known, is_new = w and q.call_of(w, ticket), not w
if known then
  -- The call is queued already: what it, or a later call of its lease, asked for counts.
  weight, share, metadata = w.weight, w.share, w.metadata
elseif weight > s.permits then
  return q.fail(WEIGHT_EXCEEDS_PERMITS)
end
note_activity(s)
local need = weight - (old and old.weight or 0)

-- Gives the wait its place, and decides whether the weight fits there.
local function decide()
  local free = s.active_holds + need <= s.permits
  local head = s.waiting_count > 0
    and redis.call('ZRANGE', s.key .. ':queue', 0, is_new and 0 or 1, 'WITHSCORES') or {}
  if is_new then
    w = { weight = weight, share = share, queued_at = now, calls = {} }
    if head[1] or (timeout > 0 and not free) then q.assign_score(s, lease_id, w, old) end
  elseif not known then
    q.change_cost(w, weight, share)
  end
  -- A wait that was parked comes back to where it would be by now.
  if not is_new and listening and w.start and not w.saved.listening then
    w.weight, w.share = weight, share
    q.take_turn(s, lease_id, w, w.start)
  end
  local other = head[1] == lease_id and 3 or 1
  local is_behind = head[other] and tonumber(head[other + 1]) < w.score
  return need <= 0 or (free and not is_behind)
end

local function exceeded_limit(fits)
  read_queue_fields(s)
  if s.max_waiters > 0 then max_waiters = math.min(max_waiters, s.max_waiters) end
  if not old and redis.call('HLEN', key) - LEASE_FIELDS >= max_holds then
    return 'LIMIT max_holds_per_lease'
  elseif fits and not old and s.active_holders_count >= max_holders then
    return 'LIMIT max_holders'
  elseif not fits and redis.call('ZCARD', s.key .. ':weights') >= max_waiters then
    return 'LIMIT max_waiters'
  end
end

-- False where the wait has too many calls already.
local function add_call()
  if known then
    known.parked = known.parked and not listening
    return true
  end
  q.drop_expired_calls(w)
  if #w.calls >= q.MAX_CALLS then return false end
  w.weight, w.share, w.metadata = weight, share, metadata
  table.insert(w.calls, { ticket = ticket, deadline_at = now + timeout, parked = not listening })
  return true
end

local function grant()
  local token = q.grant(s, lease_id, old, w, ticket)
  -- It freed permits, or a place that blocked those behind it.
  if need < 0 or w.saved then q.admit(s) end
  save()
  return acquired(s, token)
end

local function enqueue()
  local before = w.saved
  if is_new then
    if s.waiting_count == 0 then q.start_measuring(s) end
    s.next_arrival, s.queue_changed = s.next_arrival + 1, true
  end
  q.write_wait(s, lease_id, w)
  -- It may have blocked waits that are before it now.
  if before and w.score > before.score then q.admit(s) end
  save()
  return '{"result":"waiting","sweep_in":' .. q.sweep_in() .. '}'
end

local fits = decide()
if not fits and timeout == 0 then
  save()
  if not explained then return answer('unavailable', s) end
  if not w.score then q.assign_score(s, lease_id, w, old) end
  return answer('unavailable', s, explain()(s, lease_id, w.score, weight))
end
local limit = is_new and exceeded_limit(fits)
if limit then return q.fail(limit) end
if not add_call() then return q.fail('LIMIT max_calls_per_wait') end
return fits and grant() or enqueue()
