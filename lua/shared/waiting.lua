-- Why a call waits, or would: the place, who stands before it and who holds, and what follows from
-- the recent drain rate.
local HOLDERS_SHOWN = 10
-- So many weights are looked up at most, on the shorter side of the place.
local WEIGHTS_SUMMED = 500

local function sum_of_weights(s, first, last)
  local sum = 0
  for _, lease_id in ipairs(redis.call('ZRANGE', s.key .. ':queue', first, last)) do
    sum = sum + tonumber(redis.call('ZSCORE', s.key .. ':weights', lease_id))
  end
  return sum
end

-- The weight before a rank, and whether it is only known to be that much at least: where many stand
-- on both sides, those that are not looked up count as 1; and of what passes 2^53 no more is told.
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

local function waiting_json(s, lease_id, place, weight)
  read_queue(s)
  local queue = s.key .. ':queue'
  -- A call may ask for another place than its lease has: then it is counted from there.
  local stands = redis.call('ZSCORE', queue, lease_id)
  local moves = stands and tonumber(stands) ~= place
  if moves then redis.call('ZADD', queue, place, lease_id) end
  local rank = rank_of(queue, place, lease_id)
  local ahead, at_least = weight_before(s, rank)
  if moves then redis.call('ZADD', queue, stands, lease_id) end
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
