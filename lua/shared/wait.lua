local ALIVE_FOR = 15000000
-- A node decides its own timeouts; one that has not a second after them is not there to do it.
local SLACK = 1000000
-- Stands in for a semaphore that is deleted while its holders and waiters are cleared away.
local function gone(name)
  return { name = name, key = semaphore_key(name), active_holds = 0, active_holders_count = 0,
    waiting_count = 0, waiting_weight = 0, waiting_carry = 0, next_place = 0 }
end

-- An error after something has changed: the semaphores are written all the same.
local function fail(text)
  save()
  return redis.error_reply(text)
end

local CARRY = 2 ^ 53
-- Calls of one lease that wait on one semaphore: each is looked at with every step of the wait.
local MAX_CALLS = 64

local function node_of(ticket) return string.match(ticket, '^([^:]+):') end

-- A sum of weights may pass what a double holds exactly: 2^53 of it are one of waiting_carry.
local function count(s, w)
  read_queue(s)
  s.waiting_count, s.queue_changed = s.waiting_count + 1, true
  if s.waiting_weight < CARRY - w.weight then
    s.waiting_weight = s.waiting_weight + w.weight
  else
    s.waiting_weight = s.waiting_weight - (CARRY - w.weight)
    s.waiting_carry = s.waiting_carry + 1
  end
end

local function uncount(s, w)
  read_queue(s)
  s.waiting_count, s.queue_changed = s.waiting_count - 1, true
  if s.waiting_weight >= w.weight then
    s.waiting_weight = s.waiting_weight - w.weight
  else
    s.waiting_weight = s.waiting_weight + (CARRY - w.weight)
    s.waiting_carry = s.waiting_carry - 1
  end
end

local function remove_from_node(s, lease_id, ticket)
  local node = node_of(ticket)
  redis.call('ZREM', node_key(node), ticket .. ' ' .. lease_id .. ' ' .. s.name)
  if redis.call('EXISTS', node_key(node)) == 0 then redis.call('ZREM', due, 'node ' .. node) end
end

-- Takes the wait out of every list, its own record too. `up_to` is the tag up to which its flow is
-- served, where it leaves by a grant.
local function leave(s, lease_id, w, up_to)
  local stands = w.stands
  read_queue(s)
  redis.call('HDEL', lease_key(lease_id), 'wait:' .. s.name)
  redis.call('ZREM', s.key .. (stands.listens and ':queue' or ':aside'), lease_id)
  redis.call('ZREM', s.key .. ':weights', lease_id)
  redis.call('ZREM', due, 'wait ' .. lease_id .. ' ' .. s.name)
  for _, call in ipairs(stands.calls) do
    if not call.aside then remove_from_node(s, lease_id, call.ticket) end
  end
  if stands.listens then
    uncount(s, stands)
    if stands.start then leave_flow(s, lease_id, stands, up_to) end
  end
  begin_anew(s)
end

-- Writes the wait and puts it where its calls say: new, changed, set aside or back in its place.
local function place(s, lease_id, w)
  local stands, here = w.stands, listens(w)
  local stood = stands and stands.listens and stands.start and stands
  local in_flow = here and w.start
  if stood and (not in_flow or w.arrival ~= stood.arrival) then
    leave_flow(s, lease_id, stood)
    stood = nil
  end
  if in_flow and not stood and not w.has_turn then take_turn(s, lease_id, w, w.start) end
  redis.call('HSET', lease_key(lease_id), 'wait:' .. s.name, wait_json(w))
  redis.call('ZADD', s.key .. ':weights', w.weight, lease_id)
  redis.call('ZADD', s.key .. (here and ':queue' or ':aside'), w.place, lease_id)
  local listened = {}
  if stands then
    if stands.listens ~= here then
      redis.call('ZREM', s.key .. (here and ':aside' or ':queue'), lease_id)
    end
    if stands.listens then uncount(s, stands) end
    for _, call in ipairs(stands.calls) do listened[call.ticket] = not call.aside end
  end
  if here then count(s, w) end
  if in_flow and not (stood and stood.place == w.place) then join_flow(s, lease_id, w) end
  local last = 0
  for _, call in ipairs(w.calls) do
    last = math.max(last, call.deadline_at + SLACK)
    if not call.aside and not listened[call.ticket] then
      local node = node_of(call.ticket)
      redis.call('ZADD', node_key(node), now, call.ticket .. ' ' .. lease_id .. ' ' .. s.name)
      redis.call('ZADD', due, now + ALIVE_FOR, 'node ' .. node)
    end
    if not call.aside then listened[call.ticket] = nil end
  end
  for ticket, was in pairs(listened) do
    if was then remove_from_node(s, lease_id, ticket) end
  end
  redis.call('ZADD', due, last, 'wait ' .. lease_id .. ' ' .. s.name)
  w.stands, w.has_turn = standing(w), nil
end

-- Keeps the calls that pass; where none does, the wait goes with them.
local function keep_calls(s, lease_id, w, passes)
  local rest = {}
  for _, call in ipairs(w.calls) do
    if passes(call) then rest[#rest + 1] = call end
  end
  w.calls = rest
  if #rest == 0 then leave(s, lease_id, w) else place(s, lease_id, w) end
end

-- Is the call's time over, and its node not there to say so?
local function is_over(call)
  return call.deadline_at + SLACK <= now
end

local function forget_over(w)
  for i = #w.calls, 1, -1 do
    if is_over(w.calls[i]) then table.remove(w.calls, i) end
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

-- One message to each node that listens for this wait; `except` is answered by the script's reply.
local function tell(w, body, except)
  local nodes = {}
  for _, call in ipairs(w.calls) do
    if not call.aside and call.ticket ~= except then
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

local function tell_error(w, text)
  tell(w, '{"result":"error","error":"' .. text .. '"}')
end
