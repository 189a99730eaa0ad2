-- The ownerless hold of a semaphore: what downs have taken, which no lease ends. It is one holder, whose
-- weight is the number of downs. It is stored where holds are, but in no list of leases: no sweep ends it,
-- and no operation on leases finds it.
local OWNERLESS = 'ownerless'

-- Such a hold does not name its callers. So ':calls' remembers what was done, by ticket, until the node
-- acknowledges the answer; at most for this long, after which nobody retries.
local REMEMBERED_FOR = 600000000

local function ownerless_hold(s)
  local text = redis.call('HGET', lease_key(OWNERLESS), 'hold:' .. s.name)
  return text and cjson.decode(text)
end

local function take_ownerless(s, weight)
  local old = ownerless_hold(s)
  s.fencing_token = math.max(s.fencing_token + 1, now)
  s.active_holds = s.active_holds + weight
  if not old then s.active_holders_count = s.active_holders_count + 1 end
  s.holds_changed = true
  write_hold(s, OWNERLESS, { weight = weight + (old and old.weight or 0),
    fencing_token = s.fencing_token, locked_at = now, calls = {}, settled = true })
  redis.call('ZADD', s.key .. ':holders', int(now), OWNERLESS)
end

-- Gives one permit back; false where none is taken.
local function drop_ownerless(s)
  local hold = ownerless_hold(s)
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

-- The ids of proxy leases, under which downs wait, begin so. No request can name them.
local PROXY = 'proxy_'
-- Among so many of the oldest holders one is looked for.
local LOOKED_AT = 10

-- Is a permit being handed to a down that has waited?
local function has_proxy_holder(s)
  for _, lease_id in ipairs(redis.call('ZRANGE', s.key .. ':holders', 0, LOOKED_AT - 1)) do
    if string.sub(lease_id, 1, #PROXY) == PROXY then return true end
  end
  return false
end

local function change_permits(s, by)
  s.permits, s.details, s.updated = s.permits + by, next_version(s.details), true
  redis.call('HSET', s.key, 'permits', int(s.permits), 'details', s.details)
end

-- The surplus: permits that an up added though something was taken, because a permit was being handed to a
-- down at that moment, and nothing tells which of both comes first. Each goes with the next hold that
-- becomes ownerless: the value is the same with both or with neither.
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

-- The callers know the answers to these calls: nobody retries them.
local function acknowledge(s, tickets)
  if #tickets > 0 then redis.call('ZREM', s.key .. ':calls', unpack(tickets)) end
end
