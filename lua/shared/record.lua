-- A wait lives in the hash of its lease, field 'wait:<semaphore>'. Each of its calls has a ticket,
-- '<node>:<number>'. A call set aside keeps the wait's place but does not count as listening; a
-- wait none of whose calls listens stands in ':aside' instead of ':queue'.
local function wait_json(w)
  local metadata = w.metadata or ''
  if type(metadata) == 'table' then metadata = cjson.encode(metadata) end
  if metadata ~= '' then metadata = ',"metadata":' .. metadata end
  return '{"weight":' .. int(w.weight) .. stood_json(w) .. ',"queued_at":' .. int(w.queued_at)
    .. ',"calls":' .. calls_json(w.calls) .. metadata .. '}'
end

local function listens(w)
  for _, call in ipairs(w.calls) do
    if not call.aside then return true end
  end
  return false
end

-- What Redis has of the wait: place() and leave() compare with it.
local function standing(w)
  local calls = {}
  for i, call in ipairs(w.calls) do calls[i] = { ticket = call.ticket, aside = call.aside } end
  return { weight = w.weight, place = w.place, arrival = w.arrival, start = w.start,
    listens = listens(w), calls = calls }
end

local function wait_from(text)
  local w = cjson.decode(text)
  w.arrival, w.share = w.arrival or w.place, w.share or 1
  w.stands = standing(w)
  return w
end
