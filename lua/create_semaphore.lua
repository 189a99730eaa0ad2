--[[
  create_semaphore: creates a semaphore, once. An existing one stays as it is.

  KEYS[1] grackle:{ns}     hash   the namespace
  ARGV[1] request          the id of the call: a retry has the same
  ARGV[2] semaphore        its name
  ARGV[3] permits
  ARGV[4] description
  ARGV[5] metadata         JSON object, or empty
  ARGV[6] discipline       of its queue: 'fifo' | 'lifo' | 'weighted'
  ARGV[7] max_waiters      0: no bound of its own
  ARGV[8] max_semaphores
  Returns {"result":"ok","semaphore":…} | {"result":"again"}
  Errors  NO_NAMESPACE | SEMAPHORE_EXISTS | LIMIT max_semaphores
]]
local request, name, permits = ARGV[1], ARGV[2], ARGV[3]
local description, metadata = ARGV[4], ARGV[5]
local discipline, max_waiters, max_semaphores = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])

local key = semaphore_key(name)
if redis.call('EXISTS', key) == 1 then
  if redis.call('HGET', key, 'request') ~= request then
    return redis.error_reply(SEMAPHORE_EXISTS)
  end
  return answer('ok', semaphore(name))
end
if redis.call('ZCARD', semaphores) >= max_semaphores then
  return redis.error_reply('LIMIT max_semaphores')
end
-- A deletion that broke off may have left holders and waiters of the name.
if not purge(name, NO_SEMAPHORE) then return AGAIN end
redis.call('HSET', key, 'permits', permits, 'active_holds', 0, 'active_holders_count', 0,
  'waiting_count', 0, 'waiting_weight', 0, 'waiting_carry', 0, 'next_arrival', 0,
  'fencing_token', 0, 'last_activity_at', int(now),
  'details', details_json(1, ns(now), description, metadata, discipline, max_waiters),
  'request', request)
write_discipline(key, discipline, max_waiters)
redis.call('ZADD', semaphores, 0, name)
return answer('ok', semaphore(name))
