-- A flow is what one process has waiting in a WEIGHTED queue: ':flow:<process_id>', lease_id -> arrival,
-- of the waits that listen and hold nothing. A flow is served in the order of arrival, each wait from
-- where the previous one finishes. A wait that leaves, or comes back to its place, makes a gap or an
-- overlap behind it. These are mended as far as that is cheap: the first of a flow always starts where the
-- flow has been served to, and only the first is ever granted.

-- A flow that begins to wait starts by 4 of the last bits before the virtual time, and so before its
-- equals. Equal scores go by lease_id: without this, a process that comes again after each hold would lose
-- its turn to one with a smaller id.
local JUST_BEFORE = 1 - 2 ^ -50
-- How many waits are moved at once to make room for one; the others are moved when they become first.
local MAX_MOVED = 100

local function cost(weight, share) return weight / share end

-- The process of each lease, which never changes.
local processes = {}

local function flow_of(s, lease_id)
  local process_id = processes[lease_id] or redis.call('HGET', lease_key(lease_id), 'process_id')
  processes[lease_id] = process_id
  return flow_key(s.name, process_id)
end

local function wait_of(s, lease_id)
  return wait_from(redis.call('HGET', lease_key(lease_id), 'wait:' .. s.name))
end

local function first_of(flow) return redis.call('ZRANGE', flow, 0, 0)[1] end

-- Decides where a wait starts that is not in its flow, by its arrival; at best at `earliest`, where it
-- started once.
local function take_turn(s, lease_id, w, earliest)
  read_queue_fields(s)
  earliest = earliest or math.huge
  local flow, last = flow_of(s, lease_id), w.arrival == s.next_arrival
  local before = last and redis.call('ZRANGE', flow, -1, -1)
    or redis.call('ZREVRANGEBYSCORE', flow, '(' .. int(w.arrival), '-inf', 'LIMIT', 0, 1)
  local behind = not before[1] and not last and first_of(flow)
  if before[1] then
    local finish = tonumber(redis.call('ZSCORE', s.key .. ':queue', before[1]))
    w.start = math.max(finish, math.min(earliest, s.virtual_time))
  elseif behind then
    w.start = math.min(earliest, wait_of(s, behind).start)
  else
    w.start = math.min(earliest, s.virtual_time * JUST_BEFORE)
  end
  w.score, w.has_turn = w.start + cost(w.weight, w.share), true
end

local function retag(s, lease_id, w, start)
  w.start, w.score = start, start + cost(w.weight, w.share)
  redis.call('HSET', lease_key(lease_id), 'wait:' .. s.name, wait_json(w))
  redis.call('ZADD', s.key .. ':queue', w.score, lease_id)
end

-- Makes room for a wait: those behind it start when it has finished, or later.
local function push_back(s, flow, w)
  for _ = 1, MAX_MOVED do
    local behind =
      redis.call('ZRANGEBYSCORE', flow, '(' .. int(w.arrival), '+inf', 'LIMIT', 0, 1)[1]
    local other = behind and wait_of(s, behind)
    if not behind or other.start >= w.score then return end
    retag(s, behind, other, w.score)
    w = other
  end
end

local function join_flow(s, lease_id, w)
  local flow = flow_of(s, lease_id)
  redis.call('ZADD', flow, int(w.arrival), lease_id)
  if w.arrival + 1 < s.next_arrival then push_back(s, flow, w) end
end

-- The next first of the flow starts where the flow has been served to: at `served_to` where `before`
-- leaves by a grant, else where `before` itself started. So waits that end without a grant cost the flow
-- nothing.
local function leave_flow(s, lease_id, before, served_to)
  local flow = flow_of(s, lease_id)
  redis.call('ZREM', flow, lease_id)
  read_queue_fields(s)
  -- All waits of a deleted semaphore leave: their scores do not matter.
  local first = s.virtual_time and first_of(flow)
  local w = first and wait_of(s, first)
  if w and served_to and w.start ~= served_to then
    retag(s, first, w, served_to)
  elseif w and not served_to and w.arrival > before.arrival and w.start > before.start then
    retag(s, first, w, before.start)
  end
end

-- Is it the turn of another wait of its flow, though this one has the lower score? Then it goes behind that.
local function goes_behind(s, lease_id, w)
  local first = w.start and first_of(flow_of(s, lease_id))
  if not first or first == lease_id then return false end
  retag(s, lease_id, w, tonumber(redis.call('ZSCORE', s.key .. ':queue', first)))
  return true
end
