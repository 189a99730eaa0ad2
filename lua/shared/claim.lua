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

-- A wait that holds nothing any more does not grow: it stands where it arrived, like all others.
local function grow_no_more(s, lease_id, w)
  if w.place < 0 then
    w.place = w.place + GROWING
    place(s, lease_id, w)
  end
end

local function wait_again(s, lease_id, hold, calls, w)
  if #calls == 0 or not hold.place then return end
  if w then
    for _, call in ipairs(calls) do table.insert(w.calls, call) end
    w.place = math.min(w.place, hold.place)
  else
    w = { weight = hold.weight, metadata = hold.metadata, place = hold.place,
      queued_at = hold.queued_at, calls = calls }
  end
  place(s, lease_id, w)
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
    if hold.place and hold.place < 0 then hold.place = hold.place + GROWING end
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
