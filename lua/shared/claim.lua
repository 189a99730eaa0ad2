-- Whose answer is a hold? The tickets tell.
local function index_of(tickets, ticket)
  for i, entry in ipairs(tickets) do
    if entry == ticket then return i end
  end
end

local function index_of_call(calls, ticket)
  for i, call in ipairs(calls or {}) do
    if call.ticket == ticket then return i end
  end
end

-- Is the hold, or one that it replaced, this call's answer?
local function answers(hold, ticket)
  local level = hold
  while level do
    if index_of(level.calls, ticket) then return true end
    level = level.was
  end
  return false
end

-- Was this call granted, by this hold or by one that it replaced? A call that stood aside at the
-- grant listens again.
local function claim(s, lease_id, hold, ticket)
  local level = hold
  while level do
    if index_of(level.calls, ticket) then return true end
    local late = index_of_call(level.aside, ticket)
    if late then
      table.remove(level.aside, late)
      table.insert(level.calls, ticket)
      write_hold(s, lease_id, hold)
      return true
    end
    level = level.was
  end
  return false
end

-- A wait that holds nothing any more does not grow: it stands where the discipline says, like all others.
local function grow_no_more(s, lease_id, w)
  if grows(w) then
    stand(s, lease_id, w, false)
    place(s, lease_id, w)
  end
end

-- These calls wait where the hold did before it was granted, or where their lease waits by now: the
-- better place of both.
local function wait_again(s, lease_id, hold, calls, w)
  if #calls == 0 or not hold.place then return end
  local again = w or { weight = hold.weight, share = hold.share or 1, metadata = hold.metadata,
    queued_at = hold.queued_at, calls = {} }
  for _, call in ipairs(calls) do table.insert(again.calls, call) end
  local stood = { weight = again.weight, share = again.share, arrival = hold.arrival or hold.place }
  stand(s, lease_id, stood, hold.was, hold.start)
  if not w or stood.place < w.place then
    again.arrival, again.start, again.place = stood.arrival, stood.start, stood.place
  end
  place(s, lease_id, again)
end

-- The top hold is nobody's answer: what it replaced comes back, or it ends.
local function undo_top(s, lease_id, hold, w)
  local was = hold.was
  if was then
    write_hold(s, lease_id, was)
    redis.call('ZADD', s.key .. ':holders', was.locked_at, lease_id)
    s.active_holds = s.active_holds - hold.weight + was.weight
    s.holds_changed = true
  else
    drop_hold(s, lease_id, hold.weight)
    if w then grow_no_more(s, lease_id, w) end
  end
  wait_again(s, lease_id, hold, hold.aside or {}, w)
end

-- Nobody waits for this call's answer any more. A hold that answered no other is undone; calls that
-- stood aside at its grant wait again. `keep` is the call itself, where it keeps its place.
local function unclaim(s, lease_id, hold, ticket, w, keep)
  local above, level = nil, hold
  while level do
    local mine = index_of(level.calls, ticket)
    local aside = index_of_call(level.aside, ticket)
    if aside then table.remove(level.aside, aside) end
    if mine then table.remove(level.calls, mine) end
    if mine and #level.calls == 0 and not level.settled then
      if not above then
        if keep then
          level.aside = level.aside or {}
          table.insert(level.aside, keep)
        end
        return undo_top(s, lease_id, level, w)
      end
      above.was = level.was
      return write_hold(s, lease_id, hold)
    end
    if mine or aside then return write_hold(s, lease_id, hold) end
    above, level = level, level.was
  end
end
