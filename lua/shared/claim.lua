-- Was the hold granted to this ticket's call? A call that stood aside then is listening again.
local function claim(s, lease_id, hold, ticket)
  local _, mine = without(hold.calls, ticket)
  if mine then return true end
  local aside, late = without(hold.aside, ticket)
  if not late then return false end
  table.insert(hold.calls, ticket)
  hold.aside = aside
  hold.was = hold.was and hold_json(hold.was)
  redis.call('HSET', lease_key(lease_id), 'hold:' .. s.name, hold_json(hold))
  return true
end

-- Takes the ticket off the hold. With the last one that listened the hold is undone: it goes back
-- to what it was, or ends. True where it was undone.
local function undo(s, lease_id, hold, ticket)
  local calls, mine = without(hold.calls, ticket)
  local aside, late = without(hold.aside, ticket)
  if not mine and not late then return false end
  local was = hold.was
  if mine and #calls == 0 and was then
    redis.call('HSET', lease_key(lease_id), 'hold:' .. s.name, hold_json(was))
    redis.call('ZADD', s.key .. ':holders', was.locked_at, lease_id)
    s.active_holds = s.active_holds - hold.weight + was.weight
    s.holds_changed = true
    return true
  elseif mine and #calls == 0 then
    drop_hold(s, lease_id, hold.weight)
    return true
  end
  hold.calls, hold.aside, hold.was = calls, aside, was and hold_json(was)
  redis.call('HSET', lease_key(lease_id), 'hold:' .. s.name, hold_json(hold))
  return false
end
