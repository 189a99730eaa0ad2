--[[
  acquire: takes the permits for the lease, or queues, in one step. A ticket stands for one call:
  asking again with it finds what the first asking did, and takes the call back from aside.

  KEYS[1] grackle:{ns}     hash   the namespace
  ARGV[1] semaphore        its name
  ARGV[2] lease_id
  ARGV[3] weight
  ARGV[4] metadata         JSON object, or empty
  ARGV[5] ticket           '<node>:<number>'
  ARGV[6] timeout          how long to wait, in µs; 0 answers at once
  ARGV[7] listening        '1' where the node hears its channel; else the call stands aside at first
  ARGV[8] max_holders
  ARGV[9] max_waiters
  ARGV[10] max_holds       and waits, of the lease
  Returns {"result":"acquired","fencing_token":…,"semaphore":…} | {"result":"unavailable","semaphore":…}
          | {"result":"waiting","sweep_in":µs} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND lease not found | NOTFOUND semaphore not found
          TOOHEAVY weight exceeds semaphore permits
          LIMIT max_holders | LIMIT max_waiters | LIMIT max_holds_per_lease
]]
local name, lease_id, weight, metadata = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local ticket, timeout, listening = ARGV[5], tonumber(ARGV[6]), ARGV[7] == '1'
local max_holders, max_waiters, max_holds = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])

local function limit_reached(s, key, holds, fits)
  if not holds then
    if redis.call('HLEN', key) - LEASE_FIELDS >= max_holds then return 'max_holds_per_lease' end
    if fits and s.active_holders_count >= max_holders then return 'max_holders' end
  end
  return not fits and redis.call('ZCARD', s.key .. ':weights') >= max_waiters and 'max_waiters'
end

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if not sweep() then return AGAIN end
if not redis.call('ZSCORE', leases, lease_id) then return redis.error_reply(NO_LEASE) end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end

-- Passes over a head whose node has gone, so that nobody is refused for its sake.
if s.waiting_count > 0 then admit(s) end
local key = lease_key(lease_id)
local fields = redis.call('HMGET', key, 'hold:' .. name, 'wait:' .. name)
local old = fields[1] and cjson.decode(fields[1])
local w = fields[2] and wait_from(fields[2])

if old and claim(s, lease_id, old, ticket) then
  save()
  return acquired(s, old.fencing_token)
end
local known = w and call_of(w, ticket)
if known then
  -- The same call again: what it and any later one asked for stands.
  weight, metadata = w.weight, w.metadata
elseif weight > s.permits then
  return fail(TOO_HEAVY)
end
touch(s)

local need = weight - (old and old.weight or 0)
local head = s.waiting_count > 0 and redis.call('ZRANGE', s.key .. ':queue', 0, 0, 'WITHSCORES')
-- A hold that grows goes ahead of all but those that grow too: it would wait for itself.
local before = w and w.place or old and 0 or math.huge
local ahead = head and head[1] ~= lease_id and tonumber(head[2]) < before
local fits = need <= 0 or (not ahead and s.active_holds + need <= s.permits)
if not fits and timeout == 0 then
  save()
  return answer('unavailable', s)
end

local limit = not w and limit_reached(s, key, old, fits)
if limit then return fail('LIMIT ' .. limit) end
if not known then
  w = w or { place = s.next_place - (old and GROWING or 0), queued_at = now, calls = {} }
  w.weight, w.metadata = weight, metadata
  table.insert(w.calls, { ticket = ticket, deadline_at = now + timeout, aside = not listening })
end
if fits then
  local token = grant(s, lease_id, old, w, ticket)
  -- Permits freed, or a place that nobody holds up the others from any more.
  if need < 0 or w.stands then admit(s) end
  save()
  return acquired(s, token)
end
if not w.stands then s.next_place, s.queue_changed = s.next_place + 1, true end
if known then known.aside = not listening end
place(s, lease_id, w)
save()
return '{"result":"waiting","sweep_in":' .. sweep_in() .. '}'
