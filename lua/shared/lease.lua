local function lease_json(lease_id)
  local f = redis.call('HMGET', lease_key(lease_id), 'process_id', 'created_at', 'metadata')
  local text = '{"lease_id":"' .. lease_id .. '","process_id":' .. cjson.encode(f[1])
    .. ',"created_at":' .. f[2] .. '000,"expires_at":'
    .. ns(tonumber(redis.call('ZSCORE', leases, lease_id)))
  if f[3] ~= '' then text = text .. ',"metadata":' .. f[3] end
  return text .. '}'
end

-- The nodes that wait here have set their timers by the lease that was to end first.
local function announce_if_first(lease_id)
  local first = redis.call('ZRANGE', leases, 0, 0, 'WITHSCORES')
  if first[1] == lease_id then
    redis.call('PUBLISH', namespace .. ':nodes',
      '{"sweep_in":' .. int(math.max(tonumber(first[2]) - now, 0)) .. '}')
  end
end
