-- The part of a semaphore that only create and update write, as the API shows it.
local function about_json(version, created_at, description, metadata)
  local text = '{"version":' .. int(version) .. ',"created_at":' .. created_at
    .. ',"updated_at":' .. ns(now)
  if description ~= '' then text = text .. ',"description":' .. cjson.encode(description) end
  if metadata ~= '' then text = text .. ',"metadata":' .. metadata end
  return text .. '}'
end

-- Both stand before whatever a caller wrote; created_at is more than a double holds.
local function version_and_creation(about)
  local version, created_at = string.match(about, '^{"version":(%d+),"created_at":(%d+)')
  return tonumber(version), created_at
end
