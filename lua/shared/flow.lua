-- A flow is what one process has waiting in a weighted queue: ':flow:<process_id>', lease_id -> arrival,
-- of those that listen and hold nothing. By arrival they are served, each from where the one before it
-- finishes. Who leaves, or comes back to its place, makes a gap or an overlap behind it; those are mended
-- as far as is cheap: the first of a flow always starts where the flow has been served to, and only the
-- first is ever granted.

-- A flow that begins to wait goes before those that would finish with it: it starts a hair early, by
-- 4 of the last bits. Equal tags go by lease_id, and one that comes again whenever it was served would
-- else lose its turn to whoever has the smaller id.
local A_HAIR_BEFORE = 1 - 2 ^ -50
-- So many at most are moved at once to make room for one; others are when it is their turn.
local REACH = 100

local function cost(weight, share) return weight / share end

-- By lease: it keeps its process.
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

-- Where a wait starts that is not in its flow, by its arrival; at best where it did once.
local function take_turn(s, lease_id, w, had)
  read_queue(s)
  had = had or math.huge
  local flow, last = flow_of(s, lease_id), w.arrival == s.next_place
  local before = last and redis.call('ZRANGE', flow, -1, -1)
    or redis.call('ZREVRANGEBYSCORE', flow, '(' .. int(w.arrival), '-inf', 'LIMIT', 0, 1)
  local behind = not before[1] and not last and first_of(flow)
  if before[1] then
    local finish = tonumber(redis.call('ZSCORE', s.key .. ':queue', before[1]))
    w.start = math.max(finish, math.min(had, s.virtual_time))
  elseif behind then
    w.start = math.min(had, wait_of(s, behind).start)
  else
    w.start = math.min(had, s.virtual_time * A_HAIR_BEFORE)
  end
  w.place, w.has_turn = w.start + cost(w.weight, w.share), true
end

local function retag(s, lease_id, w, start)
  w.start, w.place = start, start + cost(w.weight, w.share)
  redis.call('HSET', lease_key(lease_id), 'wait:' .. s.name, wait_json(w))
  redis.call('ZADD', s.key .. ':queue', w.place, lease_id)
end

-- Makes room: those behind it start when it has finished, or later.
local function push(s, flow, w)
  for _ = 1, REACH do
    local behind =
      redis.call('ZRANGEBYSCORE', flow, '(' .. int(w.arrival), '+inf', 'LIMIT', 0, 1)[1]
    local other = behind and wait_of(s, behind)
    if not behind or other.start >= w.place then return end
    retag(s, behind, other, w.place)
    w = other
  end
end

local function join_flow(s, lease_id, w)
  local flow = flow_of(s, lease_id)
  redis.call('ZADD', flow, int(w.arrival), lease_id)
  if w.arrival + 1 < s.next_place then push(s, flow, w) end
end

-- The first of a flow starts where the flow has been served to: `up_to`, where this one leaves by a
-- grant, else where it started itself. Tags of those that end without a grant are not charged to those
-- behind them.
local function leave_flow(s, lease_id, stood, up_to)
  local flow = flow_of(s, lease_id)
  redis.call('ZREM', flow, lease_id)
  read_queue(s)
  -- Of a semaphore that is deleted all will leave.
  local first = s.virtual_time and first_of(flow)
  local w = first and wait_of(s, first)
  if w and up_to and w.start ~= up_to then
    retag(s, first, w, up_to)
  elseif w and not up_to and w.arrival > stood.arrival and w.start > stood.start then
    retag(s, first, w, stood.start)
  end
end

-- Is it the turn of another of its flow, though this one has the lower tag? Then it goes behind that.
local function goes_behind(s, lease_id, w)
  local first = w.start and first_of(flow_of(s, lease_id))
  if not first or first == lease_id then return false end
  retag(s, lease_id, w, tonumber(redis.call('ZSCORE', s.key .. ':queue', first)))
  return true
end
