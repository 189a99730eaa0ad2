--[[
  give_up: a call's time is over. Decides in one step whether it was granted or timed out.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] lease_id
  ARGV[3] ticket
  ARGV[4] weight         asked for: only with it does an answer of "timed_out" say why
  ARGV[5] share          asked for, with it
  Returns {"result":"acquired","fencing_token":…,"semaphore":…}
          | {"result":"timed_out","semaphore":…,"waiting":…?} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND lease not found | NOTFOUND semaphore not found
]]
local name, lease_id, ticket = ARGV[1], ARGV[2], ARGV[3]
local weight, share = tonumber(ARGV[4]), tonumber(ARGV[5])

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if not sweep() then return AGAIN end
if not redis.call('ZSCORE', leases, lease_id) then return redis.error_reply(NO_LEASE) end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end

local key = lease_key(lease_id)
local text = redis.call('HGET', key, 'wait:' .. name)
local w = text and wait_from(text)
local call = w and call_of(w, ticket)
if call and call.aside then
  -- Its node may not be heard for all its life: then this is where it learns of its turn.
  call.aside, asking[ticket] = false, true
  call.deadline_at = math.max(call.deadline_at, now + 1)
  place(s, lease_id, w)
  admit(s)
  text = redis.call('HGET', key, 'wait:' .. name)
  w = text and wait_from(text)
  call = w and call_of(w, ticket)
end
local waiting
if call then
  -- The place that it gives up.
  waiting = weight and waiting_json(s, lease_id, w.place, w.weight)
  drop_call(s, lease_id, w, ticket)
  admit(s)
end
save()
local held = redis.call('HGET', key, 'hold:' .. name)
local hold = held and cjson.decode(held)
if hold and not call and claim(s, lease_id, hold, ticket) then
  return acquired(s, hold.fencing_token)
end
if weight and not waiting then
  -- Its wait has ended a moment ago: then the place that it would get now.
  if not w then
    w = { weight = weight, share = share }
    stand(s, lease_id, w, hold)
  end
  waiting = waiting_json(s, lease_id, w.place, weight)
end
return answer('timed_out', s, waiting)
