-- A hold belongs to the calls that it answered: their tickets tell whether a call was granted.
local function index_of(tickets, ticket)
  for i, entry in ipairs(tickets) do
    if entry == ticket then return i end
  end
end

-- Did the hold, or one that it replaced, answer this call?
local function has_answered(hold, ticket)
  local level = hold
  while level do
    if index_of(level.calls, ticket) then return true end
    level = level.was
  end
  return false
end
