-- A call claims the hold that is its answer, or gives its claim up.
local function index_of_call(calls, ticket)
  for i, call in ipairs(calls or {}) do
    if call.ticket == ticket then return i end
  end
end

-- Was this call granted, by this hold or by one that it replaced? A call that was parked at the grant
-- counts as answered from now on.
local function claim(s, lease_id, hold, ticket)
  local level = hold
  while level do
    if index_of(level.calls, ticket) then return true end
    local late = index_of_call(level.parked, ticket)
    if late then
      table.remove(level.parked, late)
      table.insert(level.calls, ticket)
      write_hold(s, lease_id, hold)
      return true
    end
    level = level.was
  end
  return false
end

-- A wait whose lease holds nothing any more does not grow: the discipline decides its place.
local function stop_growing(s, lease_id, w)
  if is_growing(w) then
    assign_score(s, lease_id, w, false)
    write_wait(s, lease_id, w)
  end
end

-- These calls wait again: where the hold was in the queue before its grant, or where their lease waits by
-- now, whichever is better.
local function wait_again(s, lease_id, hold, calls, w)
  if #calls == 0 or not hold.score then return end
  local again = w or { weight = hold.weight, share = hold.share or 1, metadata = hold.metadata,
    queued_at = hold.queued_at, calls = {} }
  for _, call in ipairs(calls) do table.insert(again.calls, call) end
  local before =
    { weight = again.weight, share = again.share, arrival = hold.arrival or hold.score }
  assign_score(s, lease_id, before, hold.was, hold.start)
  if not w or before.score < w.score then
    again.arrival, again.start, again.score = before.arrival, before.start, before.score
  end
  write_wait(s, lease_id, again)
end

-- Nobody waits for the answer that the hold is: what it replaced comes back, or the hold ends.
local function undo_hold(s, lease_id, hold, w)
  local was = hold.was
  if was then
    write_hold(s, lease_id, was)
    redis.call('ZADD', s.key .. ':holders', was.locked_at, lease_id)
    s.active_holds = s.active_holds - hold.weight + was.weight
    s.holds_changed = true
  else
    drop_hold(s, lease_id, hold.weight)
    if w then stop_growing(s, lease_id, w) end
  end
  wait_again(s, lease_id, hold, hold.parked or {}, w)
end

-- The caller of this call is gone. A hold that answered no other call is undone, and calls that were parked
-- at its grant wait again. `keep` is the call itself, where it keeps its place.
local function unclaim(s, lease_id, hold, ticket, w, keep)
  local above, level = nil, hold
  while level do
    local answered = index_of(level.calls, ticket)
    local parked = index_of_call(level.parked, ticket)
    if parked then table.remove(level.parked, parked) end
    if answered then table.remove(level.calls, answered) end
    if answered and #level.calls == 0 and not level.settled then
      if not above then
        if keep then
          level.parked = level.parked or {}
          table.insert(level.parked, keep)
        end
        return undo_hold(s, lease_id, level, w)
      end
      above.was = level.was
      return write_hold(s, lease_id, hold)
    end
    if answered or parked then return write_hold(s, lease_id, hold) end
    above, level = level, level.was
  end
end
