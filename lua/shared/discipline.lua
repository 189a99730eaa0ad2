-- Where a wait stands in ':queue': the lowest place is next, equal ones go by lease_id.
--   fifo      its arrival
--   lifo      its arrival, negated
--   weighted  its finish tag: start + weight / share. It starts where the one before it in its flow
--             (flow.lua) finishes, but not before the virtual time, which is the highest tag that was
--             granted since somebody waits. So a flow that was idle has no credit, and needs no state of
--             its own beside its waits.
-- A hold that grows stands before all who hold nothing, by arrival, and is in no flow.
local GROWING = 2 ^ 52

local function grows(w) return w.place == w.arrival - GROWING end

-- Gives a wait its place; it keeps the start that it had once where that is the better one.
local function stand(s, lease_id, w, is_held, had)
  read_queue(s)
  w.arrival, w.start = w.arrival or s.next_place, nil
  if is_held then
    w.place = w.arrival - GROWING
  elseif s.discipline == 'weighted' then
    take_turn(s, lease_id, w, had)
  else
    -- 0 - …: the negation of 0 is written as -0.
    w.place = s.discipline == 'lifo' and 0 - w.arrival or w.arrival
  end
end

-- A later call of the lease asks for something else: only a tag depends on it.
local function reweigh(w, weight, share)
  if w.start then w.place = w.start + cost(weight, share) end
end

-- A grant moves the virtual time on, as long as somebody waits.
local function charge(s, w)
  if not w.start then return end
  read_queue(s)
  s.virtual_time, s.queue_changed = math.max(s.virtual_time, w.place), true
end

-- Where nobody waits any more, set aside or not, the next who does begins at 0.
local function begin_anew(s)
  if s.virtual_time and s.virtual_time > 0 and s.waiting_count == 0
    and redis.call('EXISTS', s.key .. ':weights') == 0 then
    s.virtual_time, s.queue_changed = 0, true
  end
end

-- Half a second's work, in which Redis does nothing else.
local MOST_REORDERED = 20000

-- All who wait take the places of a discipline that is new to them, as if they arrived once more in
-- the same order: the one step that is as long as the queue.
local function reorder(s)
  local waits = {}
  for _, list in ipairs({ s.key .. ':queue', s.key .. ':aside' }) do
    for _, lease_id in ipairs(redis.call('ZRANGE', list, 0, -1)) do
      local w = wait_from(redis.call('HGET', lease_key(lease_id), 'wait:' .. s.name))
      w.lease_id, w.list = lease_id, list
      if w.start then redis.call('DEL', flow_of(s, lease_id)) end
      if not grows(w) then waits[#waits + 1] = w end
    end
  end
  table.sort(waits, function(a, b) return a.arrival < b.arrival end)
  s.virtual_time, s.queue_changed = 0, true
  for _, w in ipairs(waits) do
    stand(s, w.lease_id, w, false)
    redis.call('HSET', lease_key(w.lease_id), 'wait:' .. s.name, wait_json(w))
    redis.call('ZADD', w.list, w.place, w.lease_id)
    if w.start and w.stands.listens then redis.call('ZADD', flow_of(s, w.lease_id), w.arrival, w.lease_id) end
  end
end
