-- A hold is in the hash of its lease, field 'hold:<semaphore>', as JSON that begins with the weight.
-- `calls` are the tickets that the grant answered, `parked` the calls that were parked then, `was` the
-- hold that it replaced: to undo a grant whose caller is gone.
local MAX_REPLACED = 4

local function tickets_json(tickets)
  if #tickets == 0 then return '[]' end
  return '["' .. table.concat(tickets, '","') .. '"]'
end

local function calls_json(calls)
  local texts = {}
  for i, call in ipairs(calls) do
    texts[i] = '{"ticket":"' .. call.ticket .. '","deadline_at":' .. int(call.deadline_at)
      .. ',"parked":' .. tostring(call.parked) .. '}'
  end
  return '[' .. table.concat(texts, ',') .. ']'
end

-- The position of a wait in its queue, without what follows from the rest. A score may be a fraction: 17
-- digits tell every double.
local function queue_position_json(w)
  local text = string.format(',"score":%.17g', w.score)
  if w.arrival and w.arrival ~= w.score then text = text .. ',"arrival":' .. int(w.arrival) end
  if w.start then text = text .. string.format(',"start":%.17g', w.start) end
  if w.share and w.share ~= 1 then text = text .. ',"share":' .. int(w.share) end
  return text
end

local function hold_json(h)
  local text = string.format('{"weight":%d,"fencing_token":%d,"locked_at":%d,"calls":%s',
    h.weight, h.fencing_token, h.locked_at, tickets_json(h.calls))
  if h.parked and #h.parked > 0 then text = text .. ',"parked":' .. calls_json(h.parked) end
  if h.score then text = text .. queue_position_json(h) .. ',"queued_at":' .. int(h.queued_at) end
  local metadata = h.metadata
  if type(metadata) == 'table' then metadata = cjson.encode(metadata) end
  if metadata and metadata ~= '' then text = text .. ',"metadata":' .. metadata end
  if h.settled then text = text .. ',"settled":true' end
  if h.was then text = text .. ',"was":' .. hold_json(h.was) end
  return text .. '}'
end

local function hold_weight(text)
  return tonumber(string.match(text, '^{"weight":(%d+)'))
end

local function write_hold(s, lease_id, h)
  redis.call('HSET', lease_key(lease_id), 'hold:' .. s.name, hold_json(h))
end

-- The hold as one that may come back. It never grows again: what it freed may be held by others. Beyond a
-- few levels a hold counts as settled, so that the record does not grow with every acquire.
local function replaced(old, weight)
  local level, depth = old, 1
  while level do
    level.weight = math.min(level.weight, weight)
    if level.was and depth == MAX_REPLACED then level.was, level.settled = nil, true end
    level, depth = level.was, depth + 1
  end
  return old
end

-- Writes `new` (weight, metadata, calls, …) as the lease's hold, and replaces `old` where there is one.
local function take_hold(s, lease_id, old, new)
  new.locked_at = now
  -- The difference first: the sum of both weights may be more than a double holds exactly.
  s.active_holds = s.active_holds + (new.weight - (old and old.weight or 0))
  if old then
    new.fencing_token = old.fencing_token
    new.was = replaced(old, new.weight)
  else
    new.fencing_token = math.max(s.fencing_token + 1, now)
    s.fencing_token = new.fencing_token
    s.active_holders_count = s.active_holders_count + 1
  end
  s.holds_changed = true
  write_hold(s, lease_id, new)
  redis.call('ZADD', s.key .. ':holders', int(now), lease_id)
  return new.fencing_token
end

local function drop_hold(s, lease_id, weight)
  redis.call('ZREM', s.key .. ':holders', lease_id)
  redis.call('HDEL', lease_key(lease_id), 'hold:' .. s.name)
  s.active_holds = s.active_holds - weight
  s.active_holders_count = s.active_holders_count - 1
  s.holds_changed = true
end

local function acquired(s, fencing_token)
  return string.format('{"result":"acquired","fencing_token":%d,"semaphore":%s}', fencing_token,
    semaphore_json(s))
end
