-- The details of a semaphore: what only create and update write, as JSON that the API shows.
local function details_json(version, created_at, description, metadata, discipline, max_waiters)
  local text = '{"version":' .. int(version) .. ',"created_at":' .. created_at
    .. ',"updated_at":' .. ns(now)
    .. ',"queue_discipline":"QUEUE_DISCIPLINE_' .. string.upper(discipline) .. '"'
  if max_waiters > 0 then text = text .. ',"max_waiters":' .. int(max_waiters) end
  if description ~= '' then text = text .. ',"description":' .. cjson.encode(description) end
  if metadata ~= '' then text = text .. ',"metadata":' .. metadata end
  return text .. '}'
end

-- The same after a change of the permits alone.
local function next_version(details)
  local version, created_at, rest =
    string.match(details, '^{"version":(%d+),"created_at":(%d+),"updated_at":%d+(.*)$')
  return '{"version":' .. int(tonumber(version) + 1) .. ',"created_at":' .. created_at
    .. ',"updated_at":' .. ns(now) .. rest
end

-- Discipline and bound once more, in fields of their own for the scripts. A missing field is the default.
local function write_discipline(key, discipline, max_waiters)
  if discipline == 'fifo' then
    redis.call('HDEL', key, 'discipline')
  else
    redis.call('HSET', key, 'discipline', discipline)
  end
  if max_waiters == 0 then
    redis.call('HDEL', key, 'max_waiters')
  else
    redis.call('HSET', key, 'max_waiters', int(max_waiters))
  end
end

-- Both come before any text of a caller. created_at stays a text: it is more than a double holds.
local function version_and_creation(details)
  local version, created_at = string.match(details, '^{"version":(%d+),"created_at":(%d+)')
  return tonumber(version), created_at
end
