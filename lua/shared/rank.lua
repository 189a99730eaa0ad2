-- Compares as Redis compares members. Lua's own `<` depends on the locale of the server.
local function byte_less(a, b)
  for i = 1, math.min(#a, #b) do
    local one, other = string.byte(a, i), string.byte(b, i)
    if one ~= other then return one < other end
  end
  return #a < #b
end

-- The rank that (score, member) has or would have in a sorted set, and whether it is there. It only reads: a page
-- must be shown on a Redis whose memory is full, too.
local function rank_of(list, score, member)
  local present = redis.call('ZSCORE', list, member)
  if present and tonumber(present) == score then return redis.call('ZRANK', list, member), true end
  local text = string.format('%.17g', score)
  local rank = redis.call('ZCOUNT', list, '-inf', '(' .. text)
  -- Among those of the same score, which are in the order of their names.
  local last = rank + redis.call('ZCOUNT', list, text, text)
  while rank < last do
    local middle = math.floor((rank + last) / 2)
    if byte_less(redis.call('ZRANGE', list, middle, middle)[1], member) then
      rank = middle + 1
    else
      last = middle
    end
  end
  return rank, false
end
