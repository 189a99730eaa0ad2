-- Why a call waits, or would: its position, the weight ahead, the holders, and the estimate that follows
-- from the recent drain rate.
local HOLDERS_SHOWN = 10
-- So many weights at most are looked up, on the shorter side of the position.
local WEIGHTS_SUMMED = 500

local function sum_of_weights(s, first, last)
  local sum = 0
  for _, lease_id in ipairs(redis.call('ZRANGE', s.key .. ':queue', first, last)) do
    sum = sum + tonumber(redis.call('ZSCORE', s.key .. ':weights', lease_id))
  end
  return sum
end

-- The weight before a rank, and whether that is only a lower bound: where many wait on both sides, a
-- weight that is not looked up counts as 1, and no sum above 2^53 - 1 is shown.
local function weight_before(s, rank)
  local rest = s.waiting_count - rank
  if rest < rank and rest <= WEIGHTS_SUMMED and s.waiting_carry == 0 then
    return s.waiting_weight - sum_of_weights(s, rank, -1), false
  end
  local summed = math.min(rank, WEIGHTS_SUMMED)
  local sum = summed > 0 and sum_of_weights(s, 0, summed - 1) or 0
  local least = sum + (rank - summed)
  return math.min(least, MAX_PERMITS), rank > summed or least > MAX_PERMITS
end

-- The rank that the lease has or would have with this score, and the weight before it.
local function position_of(s, lease_id, score)
  local queue = s.key .. ':queue'
  local present = redis.call('ZSCORE', queue, lease_id)
  -- A call may ask for another place than its lease has. It is ranked there, within this one step.
  local moves = present and tonumber(present) ~= score
  if moves then redis.call('ZADD', queue, score, lease_id) end
  local rank = rank_of(queue, score, lease_id)
  local ahead, at_least = weight_before(s, rank)
  if moves then redis.call('ZADD', queue, present, lease_id) end
  return rank, ahead, at_least
end

local function explanation_json(s, lease_id, score, weight)
  read_queue_fields(s)
  local rank, ahead, at_least = position_of(s, lease_id, score)
  local holders = redis.call('ZRANGE', s.key .. ':holders', 0, HOLDERS_SHOWN - 1)
  for i, holder in ipairs(holders) do holders[i] = holder_json(s.name, holder) end
  local text = '{"position":' .. int(rank + 1) .. ',"weight_ahead":' .. int(ahead)
  if at_least then text = text .. ',"weight_ahead_is_least":true' end
  text = text .. ',"holders":[' .. table.concat(holders, ',') .. ']'
  local drained, seconds = recently_drained(s)
  if drained then
    text = text .. ',"estimated_wait_seconds":' .. int(math.ceil((ahead + weight) * seconds / drained))
      .. ',"drained":{"weight":' .. int(drained) .. ',"seconds":' .. int(seconds) .. '}'
  end
  return text .. '}'
end
