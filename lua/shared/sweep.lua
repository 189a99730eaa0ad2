-- Only leases expire, and the few things in ':due'. Every script that reads or takes permits
-- sweeps first, so that no answer counts what has ended.
local BATCH = 50

-- Ends a lease with all its holds and waits; true when nothing of it is left.
local function end_lease(lease_id)
  local key, process_id = lease_key(lease_id), ''
  local fields = redis.call('HGETALL', key)
  for i = 1, #fields, 2 do
    local kind, name = string.match(fields[i], '^(%a+):(.*)$')
    if kind then
      if budget <= 0 then return false end
      budget = budget - 1
      local s = semaphore(name) or gone(name)
      if kind == 'hold' then
        drop_hold(s, lease_id, hold_weight(fields[i + 1]))
      else
        local w = wait_from(fields[i + 1])
        tell_error(w, NO_LEASE)
        leave(s, lease_id, w)
      end
      touched[name] = true
    elseif fields[i] == 'process_id' then
      process_id = fields[i + 1]
    end
  end
  redis.call('DEL', key)
  redis.call('ZREM', leases, lease_id)
  redis.call('ZREM', created, lease_id)
  redis.call('ZREM', process_key(process_id), lease_id)
  return true
end

-- Sets the calls aside that wait through a node without an alive mark.
local function pass_over(node)
  local entries = redis.call('ZRANGE', node_key(node), 0, math.max(budget, 1) - 1)
  for _, entry in ipairs(entries) do
    budget = budget - 1
    local ticket, lease_id, name = string.match(entry, '^(%S+) (%S+) (.*)$')
    local w = wait_from(redis.call('HGET', lease_key(lease_id), 'wait:' .. name))
    call_of(w, ticket).aside = true
    place(semaphore(name) or gone(name), lease_id, w)
    touched[name] = true
  end
  if redis.call('EXISTS', node_key(node)) == 0 then redis.call('ZREM', due, 'node ' .. node) end
end

-- Forgets the calls of a wait whose time is over and that no node has ended.
local function forget(lease_id, name)
  local text = redis.call('HGET', lease_key(lease_id), 'wait:' .. name)
  local s = semaphore(name)
  budget = budget - 1
  if not text or not s then return redis.call('ZREM', due, 'wait ' .. lease_id .. ' ' .. name) end
  keep_calls(s, lease_id, wait_from(text), function(call) return not is_over(call) end)
  touched[name] = true
end

-- Forgets the tickets of calls that nobody makes again.
local function forget_calls(name)
  local key = semaphore_key(name) .. ':calls'
  local over = math.min(redis.call('ZCOUNT', key, '-inf', int(now)), math.max(budget, 1))
  if over > 0 then redis.call('ZREMRANGEBYRANK', key, 0, over - 1) end
  budget = budget - over
  local next = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  if next then
    redis.call('ZADD', due, next, 'calls ' .. name)
  else
    redis.call('ZREM', due, 'calls ' .. name)
  end
end

local function do_due(entry)
  local kind, rest = string.match(entry, '^(%a+) (.*)$')
  if kind == 'node' then
    pass_over(rest)
  elseif kind == 'calls' then
    forget_calls(rest)
  elseif kind == 'wait' then
    forget(string.match(rest, '^(%S+) (.*)$'))
  else
    redis.call('ZREM', due, entry)
    budget = budget - 1
    local s = semaphore(rest)
    if s then refuse(s) end
    touched[rest] = true
  end
end

-- When the first lease ends and the first thing in ':due' is to be done; math.huge for never.
local function first_due()
  local lease = redis.call('ZRANGE', leases, 0, 0, 'WITHSCORES')[2]
  local other = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')[2]
  return tonumber(lease) or math.huge, tonumber(other) or math.huge
end

-- False where something due is left: the caller answers AGAIN and is called again.
local function sweep()
  local lease, other = first_due()
  if lease > now and other > now then return true end
  local ended = redis.call('ZRANGEBYSCORE', leases, '-inf', now, 'LIMIT', 0, BATCH)
  local work = redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, BATCH)
  local done = #ended < BATCH and #work < BATCH
  for _, lease_id in ipairs(ended) do
    if not end_lease(lease_id) then done = false end
  end
  for _, entry in ipairs(work) do
    if budget > 0 then do_due(entry) else done = false end
  end
  settle()
  return done and budget > 0
end

-- Microseconds until something is due here, or -1: when a node that waits has to sweep.
local function sweep_in()
  local next = math.min(first_due())
  if next == math.huge then return '-1' end
  return int(math.max(next - now, 0))
end
