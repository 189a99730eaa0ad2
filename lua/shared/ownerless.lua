-- Holds that no lease ends. Those of a semaphore are one holder, whose weight is how many there are. Its
-- hold lies where holds lie, but it stands in no list of leases: no sweep ends it, and no operation on
-- leases finds it.
local OWNERLESS = 'ownerless'

-- Nothing of such a hold names who asked for it, so what was done stands in ':calls' by its ticket, until
-- the node has heard the answer; for so long at most. Nobody asks again as late (`heard.rs`).
local REMEMBERED_FOR = 600000000

local function ownerless(s)
  local text = redis.call('HGET', lease_key(OWNERLESS), 'hold:' .. s.name)
  return text and cjson.decode(text)
end

local function hold_ownerless(s, weight)
  local old = ownerless(s)
  s.fencing_token = math.max(s.fencing_token + 1, now)
  s.active_holds = s.active_holds + weight
  if not old then s.active_holders_count = s.active_holders_count + 1 end
  s.holds_changed = true
  write_hold(s, OWNERLESS, { weight = weight + (old and old.weight or 0),
    fencing_token = s.fencing_token, locked_at = now, calls = {}, settled = true })
  redis.call('ZADD', s.key .. ':holders', int(now), OWNERLESS)
end

-- One hold less; false where there is none.
local function drop_ownerless(s)
  local hold = ownerless(s)
  if not hold then return false end
  if hold.weight == 1 then
    drop_hold(s, OWNERLESS, 1)
  else
    hold.weight = hold.weight - 1
    s.active_holds, s.holds_changed = s.active_holds - 1, true
    write_hold(s, OWNERLESS, hold)
  end
  return true
end

-- Leases that stand in for downs have ids that begin so, and no request can name them.
local STAND_IN = 'down_'
-- Among so many that hold first, one is looked for.
local LOOKED_AT = 10

-- Is a permit on its way to a down that has waited?
local function stands_in(s)
  for _, lease_id in ipairs(redis.call('ZRANGE', s.key .. ':holders', 0, LOOKED_AT - 1)) do
    if string.sub(lease_id, 1, #STAND_IN) == STAND_IN then return true end
  end
  return false
end

local function change_permits(s, by)
  s.permits, s.about, s.updated = s.permits + by, next_version(s.about), true
  redis.call('HSET', s.key, 'permits', int(s.permits), 'about', s.about)
end

-- Permits that were added though something was taken: a hold was on its way to a down just then, and it
-- could not be told which of both comes first. They go with the next hold that arrives: the value is the
-- same with both or with neither.
local function surplus(s) return tonumber(redis.call('HGET', s.key, 'surplus')) or 0 end

local function set_surplus(s, count)
  if count > 0 then
    redis.call('HSET', s.key, 'surplus', int(count))
  else
    redis.call('HDEL', s.key, 'surplus')
  end
end

local function is_done(s, ticket) return redis.call('ZSCORE', s.key .. ':calls', ticket) end

local function remember(s, ticket)
  local until_when = int(now + REMEMBERED_FOR)
  redis.call('ZADD', s.key .. ':calls', until_when, ticket)
  redis.call('ZADD', namespace .. ':due', 'NX', until_when, 'calls ' .. s.name)
end

-- The answers to these calls have been heard: nobody asks again.
local function heard(s, tickets)
  if #tickets > 0 then redis.call('ZREM', s.key .. ':calls', unpack(tickets)) end
end
