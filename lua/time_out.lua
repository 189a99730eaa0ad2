--[[
  time_out: the deadline of a call has come. Decides in one step whether it was granted or has timed out.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] lease_id
  ARGV[3] ticket
  ARGV[4] weight         that was asked for, where "timed_out" is to say why; else left out
  ARGV[5] share          that was asked for, with it
  Returns {"result":"acquired","fencing_token":…,"semaphore":…}
          | {"result":"timed_out","semaphore":…,"waiting":…?} | {"result":"again"}
  Errors  NO_NAMESPACE | NO_LEASE | NO_SEMAPHORE
]]
local name, lease_id, ticket = ARGV[1], ARGV[2], ARGV[3]
local weight, share = tonumber(ARGV[4]), tonumber(ARGV[5])

if not redis.call('ZSCORE', leases, lease_id) then return redis.error_reply(NO_LEASE) end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end

local key = lease_key(lease_id)
local text = redis.call('HGET', key, 'wait:' .. name)
local w = text and wait_from(text)
local call = w and call_of(w, ticket)
if call and call.parked then
  -- Its node may never have been subscribed: then the reply of this script brings the grant.
  call.parked, replying[ticket] = false, true
  call.deadline_at = math.max(call.deadline_at, now + 1)
  write_wait(s, lease_id, w)
  admit(s)
  text = redis.call('HGET', key, 'wait:' .. name)
  w = text and wait_from(text)
  call = w and call_of(w, ticket)
end
local waiting
if call then
  -- It shows the place that is given up.
  waiting = weight and explanation_json(s, lease_id, w.score, w.weight)
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
  -- Its wait ended a moment ago: it shows the place that it would get now.
  if not w then
    w = { weight = weight, share = share }
    assign_score(s, lease_id, w, hold)
  end
  waiting = explanation_json(s, lease_id, w.score, weight)
end
return answer('timed_out', s, waiting)
