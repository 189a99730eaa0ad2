-- A lease, as the API shows it.
local function lease_json(lease_id)
  local f = redis.call('HMGET', lease_key(lease_id), 'process_id', 'created_at', 'metadata')
  local text = '{"lease_id":"' .. lease_id .. '","process_id":' .. cjson.encode(f[1])
    .. ',"created_at":' .. f[2] .. '000,"expires_at":'
    .. ns(tonumber(redis.call('ZSCORE', leases, lease_id)))
  if f[3] ~= '' then text = text .. ',"metadata":' .. f[3] end
  return text .. '}'
end
