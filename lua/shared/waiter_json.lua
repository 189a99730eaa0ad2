-- A waiter, as the API shows it. `position` is 0 where it is parked, which the API calls "set_aside".
local function waiter_json(name, lease_id, position)
  local f = redis.call('HMGET', lease_key(lease_id), 'process_id', 'wait:' .. name)
  local w, last = cjson.decode(f[2]), 0
  for _, call in ipairs(w.calls) do last = math.max(last, call.deadline_at) end
  local text = '{"lease_id":"' .. lease_id .. '","process_id":' .. cjson.encode(f[1])
    .. ',"weight":' .. int(w.weight) .. ',"share":' .. int(w.share or 1)
    .. ',"queued_at":' .. ns(w.queued_at) .. ',"deadline_at":' .. ns(last)
    .. ',"position":' .. int(position) .. ',"set_aside":' .. tostring(position == 0)
  if w.metadata then text = text .. ',"metadata":' .. cjson.encode(w.metadata) end
  return text .. '}'
end
