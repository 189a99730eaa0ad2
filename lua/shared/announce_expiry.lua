-- Tells the nodes that are active here where this lease is now the first to expire: their timers are set by
-- another.
local function announce_expiry(lease_id)
  local first = redis.call('ZRANGE', leases, 0, 0, 'WITHSCORES')
  if first[1] == lease_id then
    redis.call('PUBLISH', namespace .. ':nodes',
      '{"sweep_in":' .. int(math.max(tonumber(first[2]) - now, 0)) .. '}')
  end
end
