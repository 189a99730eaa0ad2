--[[
  sweep: ends what has expired, hands on what that frees, and renews the alive mark of the node. A node that
  is active here calls it when something is due, and every few seconds.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] node           its id
  Returns {"result":"swept","sweep_in":µs,"waiting":calls that wait through the node,
           "subscribers":subscriptions to its channel} | {"result":"again"}
]]
local node = ARGV[1]

local waiting = redis.call('ZCARD', node_key(node))
if waiting > 0 then redis.call('ZADD', due, now + ALIVE_FOR, 'node ' .. node) end
return '{"result":"swept","sweep_in":' .. sweep_in() .. ',"waiting":' .. int(waiting)
  .. ',"subscribers":' .. int(redis.call('PUBSUB', 'NUMSUB', node_key(node))[2]) .. '}'
