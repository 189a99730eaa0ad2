-- The wait of a lease in a queue: it is written, removed, and its calls are told.

-- How long the alive mark of a node is valid: for three of its sweeps (`SWEEP_EVERY` in Rust).
local ALIVE_FOR = 15000000
-- A node ends its calls at their deadlines. One that has not done so a second later is gone.
local SLACK = 1000000
-- Calls of one lease that may wait on one semaphore: each step of the wait looks at all of them.
local MAX_CALLS = 64
-- A sum of weights may be more than a double holds exactly: `waiting_carry` counts so many of it.
local CARRY = 2 ^ 53

-- Takes the place of a semaphore that is deleted, while its holders and waiters are cleared away.
local function deleted_semaphore(name)
  return { name = name, key = semaphore_key(name), active_holds = 0, active_holders_count = 0,
    waiting_count = 0, waiting_weight = 0, waiting_carry = 0, next_arrival = 0 }
end

-- Replies with an error, after something has changed that has to be saved.
local function fail(text)
  save()
  return redis.error_reply(text)
end

local function node_of(ticket) return string.match(ticket, '^([^:]+):') end

local function add_to_totals(s, w)
  read_queue_fields(s)
  s.waiting_count, s.queue_changed = s.waiting_count + 1, true
  if s.waiting_weight < CARRY - w.weight then
    s.waiting_weight = s.waiting_weight + w.weight
  else
    s.waiting_weight = s.waiting_weight - (CARRY - w.weight)
    s.waiting_carry = s.waiting_carry + 1
  end
end

local function subtract_from_totals(s, w)
  read_queue_fields(s)
  s.waiting_count, s.queue_changed = s.waiting_count - 1, true
  if s.waiting_weight >= w.weight then
    s.waiting_weight = s.waiting_weight - w.weight
  else
    s.waiting_weight = s.waiting_weight + (CARRY - w.weight)
    s.waiting_carry = s.waiting_carry - 1
  end
end

local function add_to_node(s, lease_id, ticket)
  local node = node_of(ticket)
  redis.call('ZADD', node_key(node), now, ticket .. ' ' .. lease_id .. ' ' .. s.name)
  redis.call('ZADD', due, now + ALIVE_FOR, 'node ' .. node)
end

local function remove_from_node(s, lease_id, ticket)
  local node = node_of(ticket)
  redis.call('ZREM', node_key(node), ticket .. ' ' .. lease_id .. ' ' .. s.name)
  if redis.call('EXISTS', node_key(node)) == 0 then redis.call('ZREM', due, 'node ' .. node) end
end

-- Removes a wait from every list, with its record. `served_to` is the score up to which its flow has been
-- served, where it leaves by a grant.
local function remove_wait(s, lease_id, w, served_to)
  local saved = w.saved
  read_queue_fields(s)
  redis.call('HDEL', lease_key(lease_id), 'wait:' .. s.name)
  redis.call('ZREM', s.key .. (saved.listening and ':queue' or ':parked'), lease_id)
  redis.call('ZREM', s.key .. ':weights', lease_id)
  redis.call('ZREM', due, 'wait ' .. lease_id .. ' ' .. s.name)
  for _, call in ipairs(saved.calls) do
    if not call.parked then remove_from_node(s, lease_id, call.ticket) end
  end
  if saved.listening then
    subtract_from_totals(s, saved)
    if saved.start then leave_flow(s, lease_id, saved, served_to) end
  end
  reset_virtual_time(s)
end

-- Registers the calls that listen now with their nodes, and the others no more. Returns when the last of
-- all calls is over.
local function update_nodes(s, lease_id, w)
  local listened, last = {}, 0
  for _, call in ipairs(w.saved and w.saved.calls or {}) do
    listened[call.ticket] = not call.parked
  end
  for _, call in ipairs(w.calls) do
    last = math.max(last, call.deadline_at + SLACK)
    if not call.parked then
      if not listened[call.ticket] then add_to_node(s, lease_id, call.ticket) end
      listened[call.ticket] = nil
    end
  end
  for ticket, was in pairs(listened) do
    if was then remove_from_node(s, lease_id, ticket) end
  end
  return last
end

-- Writes a wait, new or changed, and puts it into the lists where its calls belong.
local function write_wait(s, lease_id, w)
  local saved, listening = w.saved, is_listening(w)
  local before = saved and saved.listening and saved.start and saved
  local in_flow = listening and w.start
  if before and (not in_flow or w.arrival ~= before.arrival) then
    leave_flow(s, lease_id, before)
    before = nil
  end
  if in_flow and not before and not w.has_turn then take_turn(s, lease_id, w, w.start) end
  redis.call('HSET', lease_key(lease_id), 'wait:' .. s.name, wait_json(w))
  redis.call('ZADD', s.key .. ':weights', w.weight, lease_id)
  redis.call('ZADD', s.key .. (listening and ':queue' or ':parked'), w.score, lease_id)
  if saved and saved.listening ~= listening then
    redis.call('ZREM', s.key .. (listening and ':parked' or ':queue'), lease_id)
  end
  if saved and saved.listening then subtract_from_totals(s, saved) end
  if listening then add_to_totals(s, w) end
  if in_flow and not (before and before.score == w.score) then join_flow(s, lease_id, w) end
  local last = update_nodes(s, lease_id, w)
  redis.call('ZADD', due, last, 'wait ' .. lease_id .. ' ' .. s.name)
  w.saved, w.has_turn = snapshot(w), nil
end

-- Keeps the calls that pass; where none does, the wait ends.
local function keep_calls(s, lease_id, w, passes)
  local rest = {}
  for _, call in ipairs(w.calls) do
    if passes(call) then rest[#rest + 1] = call end
  end
  w.calls = rest
  if #rest == 0 then remove_wait(s, lease_id, w) else write_wait(s, lease_id, w) end
end

-- Is the call over, and its node not there to end it?
local function is_expired(call)
  return call.deadline_at + SLACK <= now
end

local function drop_expired_calls(w)
  for i = #w.calls, 1, -1 do
    if is_expired(w.calls[i]) then table.remove(w.calls, i) end
  end
end

local function drop_call(s, lease_id, w, ticket)
  keep_calls(s, lease_id, w, function(call) return call.ticket ~= ticket end)
end

local function call_of(w, ticket)
  for _, call in ipairs(w.calls) do
    if call.ticket == ticket then return call end
  end
end

-- Sends one message to each node that listens for this wait. The reply of this script answers `except`.
local function notify(w, body, except)
  local nodes = {}
  for _, call in ipairs(w.calls) do
    if not call.parked and call.ticket ~= except then
      local node = node_of(call.ticket)
      nodes[node] = nodes[node] or {}
      table.insert(nodes[node], call.ticket)
    end
  end
  for node, tickets in pairs(nodes) do
    redis.call('PUBLISH', node_key(node),
      '{"calls":' .. tickets_json(tickets) .. ',"answer":' .. body .. '}')
  end
end

local function notify_error(w, text)
  notify(w, '{"result":"error","error":"' .. text .. '"}')
end
