--[[
  sweep: what a node that waits here does when something is due, and every few seconds: renews the
  node's alive mark, ends what has expired, hands on what that frees.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] node           its id
  Returns {"result":"swept","sweep_in":µs,"waiting":calls that wait through the node,
           "heard":subscriptions to its channel} | {"result":"again"}
]]
local node = ARGV[1]

if not sweep() then return AGAIN end
local waiting = redis.call('ZCARD', node_key(node))
if waiting > 0 then redis.call('ZADD', due, now + ALIVE_FOR, 'node ' .. node) end
return '{"result":"swept","sweep_in":' .. sweep_in() .. ',"waiting":' .. int(waiting)
  .. ',"heard":' .. int(redis.call('PUBSUB', 'NUMSUB', node_key(node))[2]) .. '}'
