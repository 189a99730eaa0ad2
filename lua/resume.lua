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
local replies, held = {}, {}
for i = 1, #waits, 3 do
  local lease_id, name, ticket = waits[i], waits[i + 1], waits[i + 2]
  local reply, s = 'lost', semaphore(name)
  if s then
    local fields = redis.call('HMGET', lease_key(lease_id), 'wait:' .. name, 'hold:' .. name)
    local w, hold = fields[1] and wait_from(fields[1]), fields[2] and cjson.decode(fields[2])
    local call = w and call_of(w, ticket)
    if call then
      reply = ''
      if call.aside then
        call.aside = false
        place(s, lease_id, w)
        touched[name] = true
      end
    elseif hold and claim(s, lease_id, hold, ticket) then
      reply = acquired(s, hold.fencing_token)
    end
  end
  replies[#replies + 1] = reply
end
settle()
table.insert(replies, 1, sweep_in())
return replies
