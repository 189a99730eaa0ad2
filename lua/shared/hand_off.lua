-- Whatever frees permits hands them on, from the head of the queue, in the same script.
-- One script does at most so many units of work (a hold or a wait ended, a wait admitted), so that
-- no crowd blocks Redis; what is left is put into ':due' and goes on in the next script.
local budget = 500
local touched = {}
-- Tickets whose calls the reply of this script answers, whether their node is heard or not.
local asking = {}

local function later(name)
  redis.call('ZADD', due, now, 'semaphore ' .. name)
  redis.call('PUBLISH', namespace .. ':nodes', '{"sweep_in":0}')
end

-- A node that has gone is known by its channel: nobody subscribes to it. An operator's PSUBSCRIBE
-- would be counted by PUBLISH, but not here.
local function check_listeners(w)
  local known, changed = {}, false
  for _, call in ipairs(w.calls) do
    local node = node_of(call.ticket)
    if not call.aside and not asking[call.ticket] then
      if known[node] == nil then
        known[node] = redis.call('PUBSUB', 'NUMSUB', node_key(node))[2] > 0
      end
      if not known[node] then call.aside, changed = true, true end
    end
  end
  return changed
end

-- Ends the wait with a hold; `ticket` is the call, if any, that this script's reply answers.
local function grant(s, lease_id, old, w, ticket)
  local calls, aside = {}, {}
  for _, call in ipairs(w.calls) do
    local hears = call.ticket == ticket or not call.aside
    if hears then table.insert(calls, call.ticket) else table.insert(aside, call) end
  end
  local want = { weight = w.weight, metadata = w.metadata, calls = calls, aside = aside }
  charge(s, w)
  if w.start and w.stands and not w.stands.listens then push(s, flow_of(s, lease_id), w) end
  if w.stands then
    want.place, want.queued_at = w.place, w.queued_at
    want.arrival, want.start, want.share = w.arrival, w.start, w.share
    leave(s, lease_id, w, w.place)
    if w.stands.listens then drain(s, w.stands.weight) end
  end
  take(s, lease_id, old, want)
  if #w.calls > 1 or not ticket then tell(w, acquired(s, want.fencing_token), ticket) end
  return want.fencing_token
end

local function over(w)
  for _, call in ipairs(w.calls) do
    if call.deadline_at > now then return false end
  end
  return true
end

-- Decides on the waiter at the head; false where it has to go on waiting.
local function admit_head(s, lease_id)
  local fields = redis.call('HMGET', lease_key(lease_id), 'wait:' .. s.name, 'hold:' .. s.name)
  local w, old = wait_from(fields[1]), fields[2] and cjson.decode(fields[2])
  local expires_at = tonumber(redis.call('ZSCORE', leases, lease_id))
  if not expires_at or expires_at <= now then
    tell_error(w, NO_LEASE)
    leave(s, lease_id, w)
  elseif over(w) then
    leave(s, lease_id, w)
  elseif check_listeners(w) then
    place(s, lease_id, w)
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
    if budget <= 0 then return later(s.name) end
    budget = budget - 1
    local head = redis.call('ZRANGE', s.key .. ':queue', 0, 0)[1]
    if not head or not admit_head(s, head) then return end
  end
end

-- Ends the waits that the permits, once lowered, can never satisfy.
local function refuse(s)
  local heavy = redis.call('ZRANGEBYSCORE', s.key .. ':weights', '(' .. int(s.permits), '+inf',
    'LIMIT', 0, math.max(budget, 0))
  for _, lease_id in ipairs(heavy) do
    budget = budget - 1
    local w = wait_from(redis.call('HGET', lease_key(lease_id), 'wait:' .. s.name))
    tell_error(w, TOO_HEAVY)
    leave(s, lease_id, w)
  end
  if budget <= 0 then later(s.name) end
end

-- Deletes the record; whoever watches is told.
local function remove(name)
  local s = semaphore(name)
  redis.call('DEL', semaphore_key(name), semaphore_key(name) .. ':calls')
  redis.call('ZREM', due, 'calls ' .. name)
  loaded[name] = false
  if s and s.watched then tell_watchers(s, DELETED) end
end

-- Clears away what stands around a semaphore that is deleted; true when nothing is left.
local function purge(name, reason)
  local s = gone(name)
  for _, list in ipairs({ ':queue', ':aside' }) do
    for _, lease_id in ipairs(redis.call('ZRANGE', s.key .. list, 0, math.max(budget, 1) - 1)) do
      budget = budget - 1
      local w = wait_from(redis.call('HGET', lease_key(lease_id), 'wait:' .. name))
      tell_error(w, reason)
      leave(s, lease_id, w)
    end
  end
  for _, lease_id in ipairs(redis.call('ZRANGE', s.key .. ':holders', 0, math.max(budget, 1) - 1)) do
    budget = budget - 1
    drop_hold(s, lease_id, 0)
  end
  local left = redis.call('EXISTS', s.key .. ':queue', s.key .. ':aside', s.key .. ':holders')
  if left > 0 then later(name) end
  return left == 0
end

-- Admits wherever this script freed something, then writes the semaphores. The last step before
-- any reply that shows one.
local function settle()
  for name in pairs(touched) do
    local s = semaphore(name)
    if s then admit(s) else purge(name, NO_SEMAPHORE) end
  end
  touched = {}
  save()
end
