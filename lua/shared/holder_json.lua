-- A holder, as the API shows it.
local function holder_json(name, lease_id)
  local hold = cjson.decode(redis.call('HGET', lease_key(lease_id), 'hold:' .. name))
  local text = '{"lease_id":"' .. lease_id .. '","weight":' .. int(hold.weight)
    .. ',"locked_at":' .. ns(hold.locked_at) .. ',"fencing_token":' .. int(hold.fencing_token)
  if hold.metadata then text = text .. ',"metadata":' .. cjson.encode(hold.metadata) end
  return text .. '}'
end
