-- Where a wait stands in ':queue': the lowest place is next, equal ones go by lease_id.
--   fifo      its arrival
--   lifo      its arrival, negated
--   weighted  its finish tag: start + weight / share. It starts where the last of its flow (the waits
--             of its process that listen) finishes, but not before the virtual time, which is the
--             highest tag that was granted since somebody waits. So a flow that was idle has no
--             credit, and needs no state of its own: only ':flow:<process_id>', lease_id -> start.
-- A hold that grows stands before all who hold nothing, by arrival, and is in no flow.
local GROWING = 2 ^ 52

-- A flow that begins to wait goes before those that would finish with it: it starts a hair early, by
-- 4 of the last bits. Equal tags go by lease_id, and one that comes again whenever it was served would
-- else lose its turn to whoever has the smaller id.
local A_HAIR_BEFORE = 1 - 2 ^ -50

local function grows(w) return w.place == w.arrival - GROWING end

local function cost(weight, share) return weight / share end

local function flow_of(s, lease_id)
  return flow_key(s.name, redis.call('HGET', lease_key(lease_id), 'process_id'))
end

-- Where one that joins the flow now starts. Whoever is in a flow is in ':queue'.
local function tail(s, lease_id)
  local last = redis.call('ZRANGE', flow_of(s, lease_id), -1, -1)[1]
  if not last then return s.virtual_time * A_HAIR_BEFORE end
  return math.max(tonumber(redis.call('ZSCORE', s.key .. ':queue', last)), s.virtual_time)
end

-- Gives a wait its place; it keeps the start that it had once where that is the better one.
local function stand(s, lease_id, w, is_held, had)
  read_queue(s)
  w.arrival, w.start = w.arrival or s.next_place, nil
  if is_held then
    w.place = w.arrival - GROWING
  elseif s.discipline == 'weighted' then
    w.start = math.min(tail(s, lease_id), had or math.huge)
    w.place = w.start + cost(w.weight, w.share)
  else
    -- 0 - …: the negation of 0 is written as -0.
    w.place = s.discipline == 'lifo' and 0 - w.arrival or w.arrival
  end
end

-- A later call of the lease asks for something else: only a tag depends on it. What gets dearer
-- starts anew behind the others of its flow, whose tags follow from what it was.
local function reweigh(s, lease_id, w, weight, share)
  if not w.start then return end
  read_queue(s)
  if w.stands.listens and cost(weight, share) > cost(w.weight, w.share)
    and redis.call('ZRANGE', flow_of(s, lease_id), -1, -1)[1] ~= lease_id then
    w.start = tail(s, lease_id)
  end
  w.place = w.start + cost(weight, share)
end

-- The first of a flow starts where the flow has been served to, whoever left it since the first
-- arrived: tags of those that ended without a grant are not charged to those behind them.
local function follow(s, flow, served)
  local first = redis.call('ZRANGE', flow, 0, 0, 'WITHSCORES')
  if not first[1] or tonumber(first[2]) <= served then return end
  local key, field = lease_key(first[1]), 'wait:' .. s.name
  local w = wait_from(redis.call('HGET', key, field))
  w.start, w.place = served, served + cost(w.weight, w.share)
  redis.call('HSET', key, field, wait_json(w))
  redis.call('ZADD', flow, w.start, first[1])
  redis.call('ZADD', s.key .. ':queue', w.place, first[1])
end

local function leave_flow(s, lease_id, served)
  local flow = flow_of(s, lease_id)
  redis.call('ZREM', flow, lease_id)
  -- Of a semaphore that is deleted all will leave.
  if s.virtual_time then follow(s, flow, served) end
end

-- What place() has to do for the flow of a wait that begins or ceases to listen, or starts elsewhere.
local function keep_flow(s, lease_id, w, here)
  local was = w.stands and w.stands.listens and w.stands.start
  if here and w.start and w.start ~= was then
    local flow = flow_of(s, lease_id)
    redis.call('ZADD', flow, w.start, lease_id)
    if was and was < w.start then follow(s, flow, was) end
  elseif was and not here then
    leave_flow(s, lease_id, was)
  end
end

-- A grant moves the virtual time on, as long as somebody waits.
local function charge(s, w)
  if not w.start then return end
  read_queue(s)
  s.virtual_time, s.queue_changed = math.max(s.virtual_time, w.place), true
end

local function rest(s)
  if s.virtual_time and s.virtual_time > 0 and s.waiting_count == 0
    and redis.call('EXISTS', s.key .. ':weights') == 0 then
    s.virtual_time, s.queue_changed = 0, true
  end
end

-- All who wait take the places of a discipline that is new to them, as if they arrived once more in
-- the same order: the one step that is as long as the queue.
local function reorder(s)
  local waits = {}
  for _, list in ipairs({ s.key .. ':queue', s.key .. ':aside' }) do
    for _, lease_id in ipairs(redis.call('ZRANGE', list, 0, -1)) do
      local w = wait_from(redis.call('HGET', lease_key(lease_id), 'wait:' .. s.name))
      w.lease_id, w.list = lease_id, list
      if w.start then redis.call('DEL', flow_of(s, lease_id)) end
      w.stands.start = nil
      if not grows(w) then waits[#waits + 1] = w end
    end
  end
  table.sort(waits, function(a, b) return a.arrival < b.arrival end)
  s.virtual_time, s.queue_changed = 0, true
  for _, w in ipairs(waits) do
    stand(s, w.lease_id, w, false)
    redis.call('HSET', lease_key(w.lease_id), 'wait:' .. s.name, wait_json(w))
    redis.call('ZADD', w.list, w.place, w.lease_id)
    keep_flow(s, w.lease_id, w, w.stands.listens)
  end
end
