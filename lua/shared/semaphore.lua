-- Semaphores are read once a script and written once, by save(), however many steps change them.
local MAX_PERMITS = 2 ^ 53 - 1
local loaded = {}

local function semaphore(name)
  local s = loaded[name]
  if s ~= nil then return s end
  local key = semaphore_key(name)
  local f = redis.call('HMGET', key, 'permits', 'active_holds', 'active_holders_count',
    'waiting_count', 'waiting_weight', 'fencing_token', 'next_place', 'version',
    'created_at', 'updated_at', 'last_activity_at', 'description', 'metadata', 'waiting_carry')
  s = f[1] and {
    name = name, key = key,
    permits = tonumber(f[1]), active_holds = tonumber(f[2]), active_holders_count = tonumber(f[3]),
    waiting_count = tonumber(f[4]), waiting_weight = tonumber(f[5]),
    fencing_token = tonumber(f[6]), next_place = tonumber(f[7]), version = f[8],
    created_at = f[9], updated_at = f[10], last_activity_at = f[11],
    description = f[12], metadata = f[13], waiting_carry = tonumber(f[14]),
  }
  loaded[name] = s
  return s
end

-- Stands in for a semaphore that is deleted while its holders and waiters are cleared away.
local function gone(name)
  return { name = name, key = semaphore_key(name), gone = true, active_holds = 0,
    active_holders_count = 0, waiting_count = 0, waiting_weight = 0, waiting_carry = 0 }
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
      end
      s.holds_changed, s.queue_changed, s.active = nil, nil, nil
    end
  end
end

-- An error after something has changed: the semaphores are written all the same.
local function fail(text)
  save()
  return redis.error_reply(text)
end

local function touch(s)
  s.last_activity_at, s.active = int(now), true
end

-- Names need no escaping: see the ranges of fields in README.md's key schema.
local SEMAPHORE_JSON = '{"name":"%s","permits":%d,"active_holds":%d,"active_holders_count":%d,'
  .. '"waiting_count":%d,"waiting_weight":%d,"version":%s,"created_at":%s000,'
  .. '"updated_at":%s000,"last_activity_at":%s000'

local function semaphore_json(s)
  local text = string.format(SEMAPHORE_JSON, s.name, s.permits, s.active_holds,
    s.active_holders_count, s.waiting_count,
    s.waiting_carry == 0 and s.waiting_weight or MAX_PERMITS, s.version, s.created_at,
    s.updated_at, s.last_activity_at)
  if s.description ~= '' then text = text .. ',"description":' .. cjson.encode(s.description) end
  if s.metadata ~= '' then text = text .. ',"metadata":' .. s.metadata end
  return text .. '}'
end

local function answer(result, s)
  return '{"result":"' .. result .. '","semaphore":' .. semaphore_json(s) .. '}'
end
