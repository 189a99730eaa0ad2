-- Holds live in the hash of their lease, field 'hold:<semaphore>', as JSON that begins with the
-- weight. `calls` are the tickets that the grant answered, `aside` the calls that stood aside then,
-- `was` the hold that this one replaced: for an answer that nobody waits for any more.
local WAS_DEPTH = 4

local function tickets_json(tickets)
  if #tickets == 0 then return '[]' end
  return '["' .. table.concat(tickets, '","') .. '"]'
end

local function calls_json(calls)
  local texts = {}
  for i, call in ipairs(calls) do
    texts[i] = '{"ticket":"' .. call.ticket .. '","deadline_at":' .. int(call.deadline_at)
      .. ',"aside":' .. tostring(call.aside) .. '}'
  end
  return '[' .. table.concat(texts, ',') .. ']'
end

-- Where a wait stands or stood; what follows from the rest is left out. A place may be a fraction:
-- 17 digits tell every double.
local function stood_json(w)
  local text = string.format(',"place":%.17g', w.place)
  if w.arrival and w.arrival ~= w.place then text = text .. ',"arrival":' .. int(w.arrival) end
  if w.start then text = text .. string.format(',"start":%.17g', w.start) end
  if w.share and w.share ~= 1 then text = text .. ',"share":' .. int(w.share) end
  return text
end

local function hold_json(h)
  local text = string.format('{"weight":%d,"fencing_token":%d,"locked_at":%d,"calls":%s',
    h.weight, h.fencing_token, h.locked_at, tickets_json(h.calls))
  if h.aside and #h.aside > 0 then text = text .. ',"aside":' .. calls_json(h.aside) end
  if h.place then text = text .. stood_json(h) .. ',"queued_at":' .. int(h.queued_at) end
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

-- The hold as one that may come back. It never grows again: what was freed may be somebody else's.
-- Below a few levels it counts as settled, so that the record does not grow with every acquire.
local function replaced(old, weight)
  local level, depth = old, 1
  while level do
    level.weight = math.min(level.weight, weight)
    if level.was and depth == WAS_DEPTH then level.was, level.settled = nil, true end
    level, depth = level.was, depth + 1
  end
  return old
end

-- Holds `want` (weight, metadata, calls, …) for the lease, in place of `old` where it holds already.
local function take(s, lease_id, old, want)
  want.locked_at = now
  -- The difference first: the sum of both may be more than a double holds exactly.
  s.active_holds = s.active_holds + (want.weight - (old and old.weight or 0))
  if old then
    want.fencing_token = old.fencing_token
    want.was = replaced(old, want.weight)
  else
    want.fencing_token = math.max(s.fencing_token + 1, now)
    s.fencing_token = want.fencing_token
    s.active_holders_count = s.active_holders_count + 1
  end
  s.holds_changed = true
  write_hold(s, lease_id, want)
  redis.call('ZADD', s.key .. ':holders', int(now), lease_id)
  return want.fencing_token
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
