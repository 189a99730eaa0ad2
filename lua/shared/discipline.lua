-- The score of a wait in ':queue': the lowest is next, equal ones go by lease_id.
--   fifo      its arrival
--   lifo      its arrival, negated
--   weighted  its virtual finish time: start + weight / share. A wait starts where the previous one of its flow
--             (flow.lua) finishes, but not before the virtual time: the highest score that was granted since
--             the queue formed. So a flow that was idle has no credit, and a flow needs no state beside its
--             waits.
-- A hold that grows comes before all waits that hold nothing, by arrival, and is in no flow.
local GROWING = 2 ^ 52

local function is_growing(w) return w.score == w.arrival - GROWING end

-- Gives a wait its score. In a WEIGHTED queue it keeps the start that it had once, if that is better.
local function assign_score(s, lease_id, w, is_held, earliest)
  read_queue_fields(s)
  w.arrival, w.start = w.arrival or s.next_arrival, nil
  if is_held then
    w.score = w.arrival - GROWING
  elseif s.discipline == 'weighted' then
    take_turn(s, lease_id, w, earliest)
  else
    -- 0 - …: the negation of 0 would be written as -0.
    w.score = s.discipline == 'lifo' and 0 - w.arrival or w.arrival
  end
end

-- A later call of the lease asks for another weight or share: only a score depends on them.
local function change_cost(w, weight, share)
  if w.start then w.score = w.start + cost(weight, share) end
end

-- A grant advances the virtual time, as long as the queue lasts.
local function advance_virtual_time(s, w)
  if not w.start then return end
  read_queue_fields(s)
  s.virtual_time, s.queue_changed = math.max(s.virtual_time, w.score), true
end

-- Where nobody waits any more, parked or not, the next wait starts at 0.
local function reset_virtual_time(s)
  if s.virtual_time and s.virtual_time > 0 and s.waiting_count == 0
    and redis.call('EXISTS', s.key .. ':weights') == 0 then
    s.virtual_time, s.queue_changed = 0, true
  end
end

-- About half a second of work, in which Redis does nothing else.
local MAX_REORDERED = 20000

-- Gives all waits the scores of a new discipline, as if they arrived again in the same order. This step
-- alone grows with the queue.
local function reorder(s)
  local waits = {}
  for _, list in ipairs({ s.key .. ':queue', s.key .. ':parked' }) do
    for _, lease_id in ipairs(redis.call('ZRANGE', list, 0, -1)) do
      local w = wait_of(s, lease_id)
      w.lease_id, w.list = lease_id, list
      if w.start then redis.call('DEL', flow_of(s, lease_id)) end
      if not is_growing(w) then waits[#waits + 1] = w end
    end
  end
  table.sort(waits, function(a, b) return a.arrival < b.arrival end)
  s.virtual_time, s.queue_changed = 0, true
  for _, w in ipairs(waits) do
    assign_score(s, w.lease_id, w, false)
    redis.call('HSET', lease_key(w.lease_id), 'wait:' .. s.name, wait_json(w))
    redis.call('ZADD', w.list, w.score, w.lease_id)
    if w.start and w.saved.listening then
      redis.call('ZADD', flow_of(s, w.lease_id), w.arrival, w.lease_id)
    end
  end
end
