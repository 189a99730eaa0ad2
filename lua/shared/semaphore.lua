-- Semaphores are read once a script and written once, by save(), however many steps change them.
local MAX_PERMITS = 2 ^ 53 - 1
local loaded = {}

local function semaphore(name)
  local s = loaded[name]
  if s ~= nil then return s end
  local key = semaphore_key(name)
  local f = redis.call('HMGET', key, 'permits', 'active_holds', 'active_holders_count',
    'waiting_count', 'fencing_token', 'last_activity_at', 'about')
  s = f[1] and {
    name = name, key = key, permits = tonumber(f[1]), active_holds = tonumber(f[2]),
    active_holders_count = tonumber(f[3]), waiting_count = tonumber(f[4]),
    fencing_token = tonumber(f[5]), last_activity_at = f[6], about = f[7],
  }
  loaded[name] = s
  return s
end

-- What is of interest only where somebody waits.
local function read_queue(s)
  if s.next_place then return end
  local f = redis.call('HMGET', s.key, 'waiting_weight', 'waiting_carry', 'next_place',
    'discipline', 'virtual_time', 'max_waiters')
  s.waiting_weight, s.waiting_carry = tonumber(f[1]), tonumber(f[2])
  s.next_place = tonumber(f[3])
  s.discipline, s.max_waiters = f[4] or 'fifo', tonumber(f[6]) or 0
  s.virtual_time = tonumber(f[5]) or 0
  s.written_time = s.virtual_time
end

local function save()
  for _, s in pairs(loaded) do
    if s then
      if s.holds_changed then
        redis.call('HSET', s.key, 'active_holds', int(s.active_holds),
          'active_holders_count', int(s.active_holders_count),
          'fencing_token', int(s.fencing_token), 'last_activity_at', s.last_activity_at)
      elseif s.active then
        redis.call('HSET', s.key, 'last_activity_at', s.last_activity_at)
      end
      if s.queue_changed then
        redis.call('HSET', s.key, 'waiting_count', int(s.waiting_count),
          'waiting_weight', int(s.waiting_weight), 'waiting_carry', int(s.waiting_carry),
          'next_place', int(s.next_place))
        if s.virtual_time == 0 and s.written_time > 0 then
          redis.call('HDEL', s.key, 'virtual_time')
        elseif s.virtual_time ~= s.written_time then
          redis.call('HSET', s.key, 'virtual_time', s.virtual_time)
        end
        s.written_time = s.virtual_time
      end
      s.holds_changed, s.queue_changed, s.active = nil, nil, nil
    end
  end
end

local function touch(s)
  s.last_activity_at, s.active = int(now), true
end

-- Names need no escaping: 1–128 of A-Z a-z 0-9 _ -; `about` is JSON already.
local SEMAPHORE_JSON = '{"name":"%s","permits":%d,"active_holds":%d,"active_holders_count":%d,'
  .. '"waiting_count":%d,"waiting_weight":%d,"last_activity_at":%s000,%s'

local function semaphore_json(s)
  local waiting_weight = 0
  if s.waiting_count > 0 then
    read_queue(s)
    waiting_weight = s.waiting_carry == 0 and s.waiting_weight or MAX_PERMITS
  end
  return string.format(SEMAPHORE_JSON, s.name, s.permits, s.active_holds, s.active_holders_count,
    s.waiting_count, waiting_weight, s.last_activity_at, string.sub(s.about, 2))
end

local function answer(result, s)
  return '{"result":"' .. result .. '","semaphore":' .. semaphore_json(s) .. '}'
end
