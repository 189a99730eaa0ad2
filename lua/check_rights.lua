--[[
  check_rights: calls each command that a script calls, to see whether this user may. Done once, before anything
  is written: a script that is refused half-way would leave its work half done.

  KEYS[1] grackle:{grackle.check}   a key of a namespace that can't exist
  Returns {"result":"done"}
]]
local channel, list = namespace .. ':nodes', namespace .. ':leases'

redis.call('PUBSUB', 'NUMSUB', channel)
redis.call('PUBLISH', channel, '{"sweep_in":0}')
redis.call('EXISTS', namespace)
redis.call('HSET', namespace, 'name', '', 'version', '1')
redis.call('HGET', namespace, 'name')
redis.call('HMGET', namespace, 'name')
redis.call('HGETALL', namespace)
redis.call('HLEN', namespace)
redis.call('HDEL', namespace, 'version')
redis.call('DEL', namespace)
redis.call('ZADD', list, 1, 'a', 2, 'b')
redis.call('ZSCORE', list, 'a')
redis.call('ZRANK', list, 'a')
redis.call('ZCARD', list)
redis.call('ZCOUNT', list, '-inf', '1')
redis.call('ZRANGE', list, 0, 0)
redis.call('ZRANGEBYSCORE', list, '-inf', '1')
redis.call('ZREVRANGEBYSCORE', list, '1', '-inf')
redis.call('ZREMRANGEBYRANK', list, 0, 0)
redis.call('ZREM', list, 'a', 'b')
return '{"result":"done"}'
