-- A page of a sorted set, or of several merged by their scores. The boundary is the last entry of the
-- previous page ('after') or the first of the next one ('before'). It need not exist any more.

-- The ranks that a page may take: from `first` up to, but without, `last`.
local function slice_of(list, direction, score, member, limit)
  local count = redis.call('ZCARD', list)
  local first, last = 0, limit
  if direction ~= '' then
    local rank, present = rank_of(list, score, member)
    if direction == 'after' then
      first = present and rank + 1 or rank
      last = first + limit
    else
      first, last = math.max(rank - limit, 0), rank
    end
  end
  return { list = list, first = first, last = math.min(last, count), count = count }
end

local function comes_before(a, b)
  local one, other = tonumber(a.score), tonumber(b.score)
  if one ~= other then return one < other end
  return byte_less(a.member, b.member)
end

local function add_entries(all, slice)
  if slice.first >= slice.last then return end
  local flat = redis.call('ZRANGE', slice.list, slice.first, slice.last - 1, 'WITHSCORES')
  for i = 1, #flat, 2 do
    all[#all + 1] = { member = flat[i], score = flat[i + 1], slice = slice,
      rank = slice.first + (i - 1) / 2 }
  end
end

-- The entries nearest to the boundary; the others are left to the page beyond.
local function nearest(all, direction, limit)
  local surplus, kept = #all - limit, {}
  for i, entry in ipairs(all) do
    if direction == 'before' and i <= surplus then
      entry.slice.first = entry.slice.first + 1
    elseif direction ~= 'before' and i > limit then
      entry.slice.last = entry.slice.last - 1
    else
      kept[#kept + 1] = entry
    end
  end
  return kept
end

-- The entries, each with its member, score, rank and slice; and whether there are others before and
-- behind them.
local function page(lists, direction, score, member, limit)
  local slices, all = {}, {}
  for i, list in ipairs(lists) do
    slices[i] = slice_of(list, direction, tonumber(score), member, limit)
    add_entries(all, slices[i])
  end
  if #lists > 1 then table.sort(all, comes_before) end
  local entries, before, behind = nearest(all, direction, limit), false, false
  for _, slice in ipairs(slices) do
    before, behind = before or slice.first > 0, behind or slice.count > slice.last
  end
  return entries, before, behind
end

-- The reply of a list: its entries, and the boundaries of the pages around it. Scores are texts, as
-- Redis writes them, with all their digits.
local function page_json(entries, before, behind, encode)
  local texts = {}
  for i, entry in ipairs(entries) do texts[i] = encode(entry.member, entry) end
  local text = '{"result":"page","entries":[' .. table.concat(texts, ',') .. ']'
  local n = #entries
  local function edge(i)
    return '["' .. entries[i].score .. '",' .. cjson.encode(entries[i].member) .. ']'
  end
  if before and n > 0 then text = text .. ',"before":' .. edge(1) end
  if behind and n > 0 then text = text .. ',"after":' .. edge(n) end
  return text .. '}'
end
