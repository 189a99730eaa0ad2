-- A namespace, as the API shows it.
local function namespace_reply()
  local f = redis.call('HMGET', namespace, 'name', 'version', 'created_at', 'updated_at',
    'description', 'metadata')
  local text = '{"result":"ok","namespace":{"name":' .. cjson.encode(f[1]) .. ',"version":' .. f[2]
    .. ',"created_at":' .. f[3] .. '000,"updated_at":' .. f[4] .. '000'
  if f[5] ~= '' then text = text .. ',"description":' .. cjson.encode(f[5]) end
  if f[6] ~= '' then text = text .. ',"metadata":' .. f[6] end
  return text .. '}}'
end
