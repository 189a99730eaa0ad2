-- A wait is in the hash of its lease, field 'wait:<semaphore>'. Each of its calls has a ticket,
-- '<node>:<number>'. A parked call keeps the place of the wait, but does not count as listening. A wait
-- without a listening call is in ':parked' instead of ':queue'.
local function wait_json(w)
  local metadata = w.metadata or ''
  if type(metadata) == 'table' then metadata = cjson.encode(metadata) end
  if metadata ~= '' then metadata = ',"metadata":' .. metadata end
  return '{"weight":' .. int(w.weight) .. queue_position_json(w) .. ',"queued_at":' .. int(w.queued_at)
    .. ',"calls":' .. calls_json(w.calls) .. metadata .. '}'
end

local function is_listening(w)
  for _, call in ipairs(w.calls) do
    if not call.parked then return true end
  end
  return false
end

-- A wait as Redis has it: write_wait() and remove_wait() compare with it.
local function snapshot(w)
  local calls = {}
  for i, call in ipairs(w.calls) do calls[i] = { ticket = call.ticket, parked = call.parked } end
  return { weight = w.weight, score = w.score, arrival = w.arrival, start = w.start,
    listening = is_listening(w), calls = calls }
end

local function wait_from(text)
  local w = cjson.decode(text)
  w.arrival, w.share = w.arrival or w.score, w.share or 1
  w.saved = snapshot(w)
  return w
end
