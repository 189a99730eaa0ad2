--[[
  resume: a node that subscribes, or doubts what it heard, asks about its waits. Those set aside
  are back in their places; what was granted meanwhile is answered; whoever now fits is admitted.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[…] lease_id, semaphore, ticket   of each wait
  Returns {sweep_in, reply, …}: for each wait '' where it goes on, 'lost' where nothing is known of
          it, or the answer as acquire gives it | {"result":"again"}
  Errors  NOTFOUND namespace not found
]]
local waits = ARGV

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if not sweep() then return AGAIN end

local function fields_of(i)
  return redis.call('HMGET', lease_key(waits[i]), 'wait:' .. waits[i + 1], 'hold:' .. waits[i + 1])
end

for i = 1, #waits, 3 do
  local lease_id, name, ticket = waits[i], waits[i + 1], waits[i + 2]
  local s = semaphore(name)
  local text = s and fields_of(i)[1]
  local w = text and wait_from(text)
  local call = w and call_of(w, ticket)
  if call and call.aside then
    call.aside, asking[ticket] = false, true
    place(s, lease_id, w)
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
