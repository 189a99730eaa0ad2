-- Clears away what is left of a namespace without a record; true when nothing is.
local function clear_namespace()
  for _, name in ipairs(redis.call('ZRANGE', semaphores, 0, BATCH - 1)) do
    if budget <= 0 then return false end
    delete_record(name)
    if purge(name, NO_NAMESPACE) then redis.call('ZREM', semaphores, name) end
    budget = budget - 1
  end
  if redis.call('EXISTS', semaphores) == 1 then return false end
  for _, lease_id in ipairs(redis.call('ZRANGE', leases, 0, BATCH - 1)) do
    if budget <= 0 then return false end
    end_lease(lease_id)
    budget = budget - 1
  end
  touched = {}
  if redis.call('EXISTS', semaphores, leases) > 0 then return false end
  redis.call('DEL', due)
  return true
end
