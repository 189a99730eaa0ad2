--[[
  resume: a node that has subscribed, or may have missed messages, asks about its waiting calls. Parked ones
  get their places back, grants of the meantime are answered, and waiters that now fit are admitted.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[…] lease_id, semaphore, ticket   of each call
  Returns {sweep_in, reply, …}: for each call '' where it waits on, 'lost' where Redis does not know it, or the
          answer as acquire gives it | {"result":"again"}
  Errors  NO_NAMESPACE
]]
local waits = ARGV


local function fields_of(i)
  return redis.call('HMGET', lease_key(waits[i]), 'wait:' .. waits[i + 1], 'hold:' .. waits[i + 1])
end

for i = 1, #waits, 3 do
  local lease_id, name, ticket = waits[i], waits[i + 1], waits[i + 2]
  local s = semaphore(name)
  local text = s and fields_of(i)[1]
  local w = text and wait_from(text)
  local call = w and call_of(w, ticket)
  if call and call.parked then
    call.parked, replying[ticket] = false, true
    write_wait(s, lease_id, w)
    touched[name] = true
  end
end
settle()

local replies = { sweep_in() }
for i = 1, #waits, 3 do
  local lease_id, name, ticket = waits[i], waits[i + 1], waits[i + 2]
  local reply, s = 'lost', semaphore(name)
  if s then
    local fields = fields_of(i)
    local hold = fields[2] and cjson.decode(fields[2])
    if fields[1] and call_of(cjson.decode(fields[1]), ticket) then
      reply = ''
    elseif hold and claim(s, lease_id, hold, ticket) then
      reply = acquired(s, hold.fencing_token)
    end
  end
  replies[#replies + 1] = reply
end
return replies
