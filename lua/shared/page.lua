-- A page of a sorted set. The boundary is the last entry of the page before (after = true) or the
-- first of the page behind; it need not exist any more.
local function rank_of(list, score, member)
  local stands = redis.call('ZSCORE', list, member)
  if stands and tonumber(stands) == score then return redis.call('ZRANK', list, member), true end
  -- Its rank is where it would stand: put in, asked and taken out within this one step.
  redis.call('ZADD', list, score, member)
  local rank = redis.call('ZRANK', list, member)
  if not stands then
    redis.call('ZREM', list, member)
  else
    redis.call('ZADD', list, stands, member)
    -- It moved to before the boundary: one more stands there than was counted.
    if tonumber(stands) < score then rank = rank + 1 end
  end
  return rank, false
end

local function page(list, direction, score, member, limit)
  local first = 0
  if direction ~= '' then
    local rank, stands = rank_of(list, tonumber(score), member)
    if direction == 'after' then
      first = stands and rank + 1 or rank
    else
      first = math.max(rank - limit, 0)
      limit = rank - first
    end
  end
  if limit == 0 then return {}, false, false end
  local entries = redis.call('ZRANGE', list, first, first + limit - 1, 'WITHSCORES')
  local behind = redis.call('ZCARD', list) > first + #entries / 2
  return entries, first > 0, behind
end

-- The reply of a list: its entries, and the boundaries from which the pages around it go on.
local function page_json(entries, before, behind, encode)
  local texts = {}
  for i = 1, #entries, 2 do texts[#texts + 1] = encode(entries[i]) end
  local text = '{"result":"page","entries":[' .. table.concat(texts, ',') .. ']'
  local n = #entries
  local function edge(i) return '[' .. int(tonumber(entries[i + 1])) .. ',' .. cjson.encode(entries[i]) .. ']' end
  if before and n > 0 then text = text .. ',"before":' .. edge(1) end
  if behind and n > 0 then text = text .. ',"after":' .. edge(n - 1) end
  return text .. '}'
end
