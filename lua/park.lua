--[[
  park: passes these calls over, but keeps their places for a time, in case their leases ask again, here or
  elsewhere.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] crossed        what happens to a grant that crossed: 'keep' | 'undo' (the call gets its place back)
  ARGV[…] lease_id, semaphore, ticket, keep   of each call; keep: how long, in µs from now
  Returns {reply, …}: for each call '', or the answer as acquire gives it of a grant that is kept
          | {"result":"again"}
]]
local crossed, calls = ARGV[1], ARGV

local replies = {}
for i = 2, #calls, 4 do
  local lease_id, name, ticket, keep = calls[i], calls[i + 1], calls[i + 2], tonumber(calls[i + 3])
  local reply, s = '', semaphore(name)
  if s then
    local fields = redis.call('HMGET', lease_key(lease_id), 'hold:' .. name, 'wait:' .. name)
    local hold, w = fields[1] and cjson.decode(fields[1]), fields[2] and wait_from(fields[2])
    local call = w and call_of(w, ticket)
    if call then
      call.parked, call.deadline_at = true, math.min(call.deadline_at, now + keep)
      write_wait(s, lease_id, w)
    elseif hold and crossed == 'keep' then
      if claim(s, lease_id, hold, ticket) then reply = acquired(s, hold.fencing_token) end
    elseif hold then
      local call = { ticket = ticket, deadline_at = now + keep, parked = true }
      unclaim(s, lease_id, hold, ticket, w, call)
    end
    touched[name] = true
  end
  replies[#replies + 1] = reply
end
settle()
return replies
