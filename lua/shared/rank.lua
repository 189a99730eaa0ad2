-- The rank in a sorted set of a place that need not be taken: how many stand before it, and whether
-- the member stands there itself.
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
