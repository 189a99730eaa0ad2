--[[
  cancel: the caller of this call is gone. The call leaves the queue; a grant that crossed is undone, and
  the hold goes back to what it was.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] lease_id
  ARGV[3] ticket
  Returns {"result":"done"}
]]
local name, lease_id, ticket = ARGV[1], ARGV[2], ARGV[3]

local s = semaphore(name)
local fields = redis.call('HMGET', lease_key(lease_id), 'hold:' .. name, 'wait:' .. name)
if s then
  local hold, w = fields[1] and cjson.decode(fields[1]), fields[2] and wait_from(fields[2])
  if w and call_of(w, ticket) then
    drop_call(s, lease_id, w, ticket)
  elseif hold then
    unclaim(s, lease_id, hold, ticket, w)
  end
  touched[name] = true
  settle()
end
return '{"result":"done"}'
