-- The rank that (score, member) has or would have in a sorted set, and whether it is there.
local function rank_of(list, score, member)
  local present = redis.call('ZSCORE', list, member)
  if present and tonumber(present) == score then return redis.call('ZRANK', list, member), true end
  -- The member is put in, ranked and taken out again within this one step.
  redis.call('ZADD', list, score, member)
  local rank = redis.call('ZRANK', list, member)
  if not present then
    redis.call('ZREM', list, member)
  else
    redis.call('ZADD', list, present, member)
    -- It was moved from before the boundary, so one more entry is before it than was counted.
    if tonumber(present) < score then rank = rank + 1 end
  end
  return rank, false
end
