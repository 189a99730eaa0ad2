-- Holds live in the hash of their lease, field 'hold:<semaphore>', as JSON that begins with the
-- weight. `calls` are the tickets that the grant answered, `aside` those that were set aside then;
-- `was` is the hold that this one replaced, for an answer that nobody waits for any more.
local function metadata_json(metadata)
  if type(metadata) == 'table' then return cjson.encode(metadata) end
  return metadata or ''
end

local function tickets_json(tickets)
  if not tickets or #tickets == 0 then return '[]' end
  return '["' .. table.concat(tickets, '","') .. '"]'
end

local function hold_json(h)
  local text = '{"weight":' .. int(h.weight) .. ',"fencing_token":' .. int(h.fencing_token)
    .. ',"locked_at":' .. int(h.locked_at) .. ',"calls":' .. tickets_json(h.calls)
  if h.aside and #h.aside > 0 then text = text .. ',"aside":' .. tickets_json(h.aside) end
  if h.place then text = text .. ',"place":' .. int(h.place) end
  local metadata = metadata_json(h.metadata)
  if metadata ~= '' then text = text .. ',"metadata":' .. metadata end
  if h.was then text = text .. ',"was":' .. h.was end
  return text .. '}'
end

local function hold_weight(text)
  return tonumber(string.match(text, '^{"weight":(%d+)'))
end

local function without(list, value)
  local rest, found = {}, false
  for _, entry in ipairs(list or {}) do
    if entry == value then found = true else rest[#rest + 1] = entry end
  end
  return rest, found
end

-- Holds `want` (weight, metadata, calls, …) for the lease, in place of `old` where it holds already.
local function take(s, lease_id, old, want)
  want.locked_at = now
  if old then
    want.fencing_token = old.fencing_token
    -- Permits once freed may be somebody else's: a smaller hold never grows back.
    if old.weight <= want.weight then
      old.was = nil
      want.was = hold_json(old)
    end
  else
    want.fencing_token = math.max(s.fencing_token + 1, now)
    s.fencing_token = want.fencing_token
    s.active_holders_count = s.active_holders_count + 1
  end
  s.active_holds = s.active_holds + want.weight - (old and old.weight or 0)
  s.holds_changed = true
  redis.call('HSET', lease_key(lease_id), 'hold:' .. s.name, hold_json(want))
  redis.call('ZADD', s.key .. ':holders', now, lease_id)
end

local function drop_hold(s, lease_id, weight)
  redis.call('ZREM', s.key .. ':holders', lease_id)
  redis.call('HDEL', lease_key(lease_id), 'hold:' .. s.name)
  s.active_holds = s.active_holds - weight
  s.active_holders_count = s.active_holders_count - 1
  s.holds_changed = true
end

local function acquired(s, fencing_token)
  return '{"result":"acquired","fencing_token":' .. int(fencing_token)
    .. ',"semaphore":' .. semaphore_json(s) .. '}'
end
