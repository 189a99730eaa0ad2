-- Whatever frees permits hands them on, from the head of the queue, in the same script.
--
-- One script does at most so many units of work (a hold or a wait ended, a wait admitted), so that no crowd
-- blocks Redis. What is left is noted in ':due', and the next script goes on.
local budget = 500
-- The names of the semaphores where this script has freed something.
local touched = {}
-- The tickets that the reply of this script answers, whether or not their node is subscribed.
local replying = {}

local function continue_later(name)
  redis.call('ZADD', due, now, 'semaphore ' .. name)
  redis.call('PUBLISH', namespace .. ':nodes', '{"sweep_in":0}')
end

-- Parks the calls of nodes that are gone: nobody subscribes to their channels. (PUBSUB NUMSUB does not count
-- the PSUBSCRIBE of an operator, as PUBLISH would.) True where that parked a call.
local function park_unreachable(w)
  local known, changed = {}, false
  for _, call in ipairs(w.calls) do
    local node = node_of(call.ticket)
    if not call.parked and not replying[call.ticket] then
      if known[node] == nil then
        known[node] = redis.call('PUBSUB', 'NUMSUB', node_key(node))[2] > 0
      end
      if not known[node] then call.parked, changed = true, true end
    end
  end
  return changed
end

-- Splits the calls of a wait into the tickets that a grant answers, and the calls that are parked.
local function split_calls(w, ticket)
  local answered, parked = {}, {}
  for _, call in ipairs(w.calls) do
    if call.ticket == ticket or not call.parked then
      table.insert(answered, call.ticket)
    else
      table.insert(parked, call)
    end
  end
  return answered, parked
end

-- Ends a wait with a hold. `ticket` is the call, if any, that the reply of this script answers.
local function grant(s, lease_id, old, w, ticket)
  local answered, parked = split_calls(w, ticket)
  local hold = { weight = w.weight, metadata = w.metadata, calls = answered, parked = parked }
  advance_virtual_time(s, w)
  if w.start and w.saved and not w.saved.listening then push_back(s, flow_of(s, lease_id), w) end
  if w.saved then
    hold.score, hold.queued_at = w.score, w.queued_at
    hold.arrival, hold.start, hold.share = w.arrival, w.start, w.share
    remove_wait(s, lease_id, w, w.score)
    if w.saved.listening then note_drained(s, w.saved.weight) end
  end
  take_hold(s, lease_id, old, hold)
  if #w.calls > 1 or not ticket then notify(w, acquired(s, hold.fencing_token), ticket) end
  return hold.fencing_token
end

local function all_timed_out(w)
  for _, call in ipairs(w.calls) do
    if call.deadline_at > now then return false end
  end
  return true
end

-- Decides about the waiter at the head; false where it has to wait on.
local function admit_head(s, lease_id)
  local fields = redis.call('HMGET', lease_key(lease_id), 'wait:' .. s.name, 'hold:' .. s.name)
  local w, old = wait_from(fields[1]), fields[2] and cjson.decode(fields[2])
  local expires_at = tonumber(redis.call('ZSCORE', leases, lease_id))
  if not expires_at or expires_at <= now then
    notify_error(w, NO_LEASE)
    remove_wait(s, lease_id, w)
  elseif all_timed_out(w) then
    remove_wait(s, lease_id, w)
  elseif park_unreachable(w) then
    write_wait(s, lease_id, w)
  elseif goes_behind(s, lease_id, w) then
    return true
  elseif s.active_holds + (w.weight - (old and old.weight or 0)) > s.permits then
    return false
  else
    grant(s, lease_id, old, w)
  end
  return true
end

local function admit(s)
  while s.waiting_count > 0 do
    if budget <= 0 then return continue_later(s.name) end
    budget = budget - 1
    local head = redis.call('ZRANGE', s.key .. ':queue', 0, 0)[1]
    if not head or not admit_head(s, head) then return end
  end
end

-- Ends the waits that can never be granted since the permits were lowered.
local function refuse_heavy(s)
  local heavy = redis.call('ZRANGEBYSCORE', s.key .. ':weights', '(' .. int(s.permits), '+inf',
    'LIMIT', 0, math.max(budget, 0))
  for _, lease_id in ipairs(heavy) do
    budget = budget - 1
    local w = wait_of(s, lease_id)
    notify_error(w, WEIGHT_EXCEEDS_PERMITS)
    remove_wait(s, lease_id, w)
  end
  if budget <= 0 then continue_later(s.name) end
end

-- Deletes the record of a semaphore, and tells its watchers.
local function delete_record(name)
  local s = semaphore(name)
  redis.call('DEL', semaphore_key(name), semaphore_key(name) .. ':calls')
  redis.call('ZREM', due, 'calls ' .. name)
  loaded[name] = false
  if s and s.watched then notify_watchers(s, DELETED) end
end

-- Clears the waiters and holders of a deleted semaphore away; true when none is left.
local function purge(name, reason)
  local s = deleted_semaphore(name)
  for _, list in ipairs({ ':queue', ':parked' }) do
    for _, lease_id in ipairs(redis.call('ZRANGE', s.key .. list, 0, math.max(budget, 1) - 1)) do
      budget = budget - 1
      local w = wait_of(s, lease_id)
      notify_error(w, reason)
      remove_wait(s, lease_id, w)
    end
  end
  for _, lease_id in ipairs(redis.call('ZRANGE', s.key .. ':holders', 0, math.max(budget, 1) - 1)) do
    budget = budget - 1
    drop_hold(s, lease_id, 0)
  end
  local left = redis.call('EXISTS', s.key .. ':queue', s.key .. ':parked', s.key .. ':holders')
  if left > 0 then continue_later(name) end
  return left == 0
end

-- Admits waiters wherever this script freed something, then saves the semaphores. The last step before any
-- reply that shows one.
local function settle()
  for name in pairs(touched) do
    local s = semaphore(name)
    if s then admit(s) else purge(name, NO_SEMAPHORE) end
  end
  touched = {}
  save()
end
