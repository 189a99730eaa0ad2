--[[
  touch_holds: which of these grants does this server have? Those that it has are written again, unchanged, so
  that a WAIT that follows on the same connection counts them. (From Redis 7.2 on and in Valkey, WAIT looks
  only at what its own connection has written.)

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[…] lease_id, semaphore, ticket   of each call that was granted
  Returns {1 | 0, …}: for each call, whether the server has its grant
]]
local calls = ARGV

local replies = {}
for i = 1, #calls, 3 do
  local lease_id, name, ticket = calls[i], calls[i + 1], calls[i + 2]
  local key, field = lease_key(lease_id), 'hold:' .. name
  local text = redis.call('HGET', key, field)
  local granted = text and has_answered(cjson.decode(text), ticket)
  if granted then redis.call('HSET', key, field, text) end
  replies[#replies + 1] = granted and 1 or 0
end
return replies
