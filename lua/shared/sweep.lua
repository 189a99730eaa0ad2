-- Only leases expire, and the few things in ':due'. Every script that reads or takes permits sweeps first,
-- so that no answer counts what has expired.
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
      local s = semaphore(name) or deleted_semaphore(name)
      if kind == 'hold' then
        drop_hold(s, lease_id, hold_weight(fields[i + 1]))
      else
        local w = wait_from(fields[i + 1])
        notify_error(w, NO_LEASE)
        remove_wait(s, lease_id, w)
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

-- Parks the calls that wait through a node without an alive mark.
local function park_calls_of(node)
  local entries = redis.call('ZRANGE', node_key(node), 0, math.max(budget, 1) - 1)
  for _, entry in ipairs(entries) do
    budget = budget - 1
    local ticket, lease_id, name = string.match(entry, '^(%S+) (%S+) (.*)$')
    local s = semaphore(name) or deleted_semaphore(name)
    local w = wait_of(s, lease_id)
    call_of(w, ticket).parked = true
    write_wait(s, lease_id, w)
    touched[name] = true
  end
  if redis.call('EXISTS', node_key(node)) == 0 then redis.call('ZREM', due, 'node ' .. node) end
end

-- Drops the calls of a wait that are over and that no node has ended.
local function expire_calls(lease_id, name)
  local text = redis.call('HGET', lease_key(lease_id), 'wait:' .. name)
  local s = semaphore(name)
  budget = budget - 1
  if not text or not s then return redis.call('ZREM', due, 'wait ' .. lease_id .. ' ' .. name) end
  keep_calls(s, lease_id, wait_from(text), function(call) return not is_expired(call) end)
  touched[name] = true
end

-- Forgets the tickets of downs and ups that nobody retries any more.
local function forget_tickets(name)
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

-- Goes on with what a script has left to the next.
local function continue_work(name)
  redis.call('ZREM', due, 'semaphore ' .. name)
  budget = budget - 1
  local s = semaphore(name)
  if s then refuse_heavy(s) end
  touched[name] = true
end

local function do_due(entry)
  local kind, rest = string.match(entry, '^(%a+) (.*)$')
  if kind == 'node' then
    park_calls_of(rest)
  elseif kind == 'calls' then
    forget_tickets(rest)
  elseif kind == 'wait' then
    expire_calls(string.match(rest, '^(%S+) (.*)$'))
  else
    continue_work(rest)
  end
end

-- When the first lease expires, and when the first thing in ':due' is due; math.huge for never.
local function first_due()
  local lease = redis.call('ZRANGE', leases, 0, 0, 'WITHSCORES')[2]
  local other = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')[2]
  return tonumber(lease) or math.huge, tonumber(other) or math.huge
end

-- False where something due is left: then the script replies AGAIN, and the client calls again. Calls `prepare`, if
-- it is given, before it writes.
local function sweep(prepare)
  local lease, other = first_due()
  if lease > now and other > now then return true end
  if prepare then prepare() end
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

-- When a node that is active here has to sweep next: µs from now, or -1 for never.
local function sweep_in()
  local next = math.min(first_due())
  if next == math.huge then return '-1' end
  return int(math.max(next - now, 0))
end
