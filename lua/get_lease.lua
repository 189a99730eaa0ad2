--[[
  get_lease: a lease's record.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] lease_id
  Returns {"result":"ok","lease":…}
  Errors  NO_NAMESPACE | NO_LEASE
]]
local lease_id = ARGV[1]

if not expiry_of(lease_id) then return redis.error_reply(NO_LEASE) end
return '{"result":"ok","lease":' .. lease_json(lease_id) .. '}'
