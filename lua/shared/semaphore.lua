-- The record of a semaphore. A script reads it once and writes it once, by save(), however many steps
-- change it.
local MAX_PERMITS = 2 ^ 53 - 1
local loaded = {}

local function semaphore(name)
  local s = loaded[name]
  if s ~= nil then return s end
  local key = semaphore_key(name)
  local f = redis.call('HMGET', key, 'permits', 'active_holds', 'active_holders_count',
    'waiting_count', 'fencing_token', 'last_activity_at', 'details', 'watched')
  s = f[1] and {
    name = name, key = key, permits = tonumber(f[1]), active_holds = tonumber(f[2]),
    active_holders_count = tonumber(f[3]), waiting_count = tonumber(f[4]),
    fencing_token = tonumber(f[5]), last_activity_at = f[6], details = f[7],
    watched = f[8],
  }
  loaded[name] = s
  return s
end

-- The fields that matter only where a call waits.
local function read_queue_fields(s)
  if s.next_arrival then return end
  local f = redis.call('HMGET', s.key, 'waiting_weight', 'waiting_carry', 'next_arrival',
    'discipline', 'virtual_time', 'max_waiters')
  s.waiting_weight, s.waiting_carry = tonumber(f[1]), tonumber(f[2])
  s.next_arrival = tonumber(f[3])
  s.discipline, s.max_waiters = f[4] or 'fifo', tonumber(f[6]) or 0
  s.virtual_time = tonumber(f[5]) or 0
  s.saved_virtual_time = s.virtual_time
end

-- Names need no escaping: 1–128 of A-Z a-z 0-9 _ -; `details` is JSON already.
local SEMAPHORE_JSON = '{"name":"%s","permits":%d,"active_holds":%d,"active_holders_count":%d,'
  .. '"waiting_count":%d,"waiting_weight":%d,"last_activity_at":%s000,%s'

local function semaphore_json(s)
  local waiting_weight = 0
  if s.waiting_count > 0 then
    read_queue_fields(s)
    waiting_weight = s.waiting_carry == 0 and s.waiting_weight or MAX_PERMITS
  end
  return string.format(SEMAPHORE_JSON, s.name, s.permits, s.active_holds, s.active_holders_count,
    s.waiting_count, waiting_weight, s.last_activity_at, string.sub(s.details, 2))
end

local DELETED = '"deleted":true'

-- Publishes the state, or that the semaphore is deleted. Where no subscriber receives it, the semaphore
-- is not watched any more: a node that only lost its connection marks it again.
local function notify_watchers(s, what)
  if tonumber(s.watched) > now then
    local channel = namespace .. ':watch:' .. s.name
    local text = '{"at":' .. int(now) .. ',' .. what .. '}'
    if redis.call('PUBLISH', channel, text) > 0 then return end
  end
  if what ~= DELETED then redis.call('HDEL', s.key, 'watched') end
  s.watched = false
end

local function save_holds(s)
  if s.holds_changed then
    redis.call('HSET', s.key, 'active_holds', int(s.active_holds),
      'active_holders_count', int(s.active_holders_count),
      'fencing_token', int(s.fencing_token), 'last_activity_at', s.last_activity_at)
  elseif s.active then
    redis.call('HSET', s.key, 'last_activity_at', s.last_activity_at)
  end
end

local function save_queue(s)
  if not s.queue_changed then return end
  redis.call('HSET', s.key, 'waiting_count', int(s.waiting_count),
    'waiting_weight', int(s.waiting_weight), 'waiting_carry', int(s.waiting_carry),
    'next_arrival', int(s.next_arrival))
  if s.virtual_time == 0 and s.saved_virtual_time > 0 then
    redis.call('HDEL', s.key, 'virtual_time')
  elseif s.virtual_time ~= s.saved_virtual_time then
    redis.call('HSET', s.key, 'virtual_time', s.virtual_time)
  end
  s.saved_virtual_time = s.virtual_time
end

local function save_drain(s)
  if not s.drain_changed then return end
  redis.call('HSET', s.key, 'drained', int(s.drained),
    'drained_before', int(s.drained_before), 'drained_since', int(s.drained_since))
end

local function save()
  for _, s in pairs(loaded) do
    if s then
      local shown = s.watched and (s.holds_changed or s.queue_changed or s.active or s.updated)
      save_holds(s)
      save_queue(s)
      save_drain(s)
      s.holds_changed, s.queue_changed, s.drain_changed = nil, nil, nil
      s.active, s.updated = nil, nil
      if shown then notify_watchers(s, '"semaphore":' .. semaphore_json(s)) end
    end
  end
end

local function note_activity(s)
  s.last_activity_at, s.active = int(now), true
end

local function answer(result, s, explanation)
  local text = '{"result":"' .. result .. '","semaphore":' .. semaphore_json(s)
  if explanation then text = text .. ',"waiting":' .. explanation end
  return text .. '}'
end
