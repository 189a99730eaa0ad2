--[[
  list_semaphore_waiters: a page of a semaphore's waiters in the order in which they are admitted. Parked ones
  are among them, at the place that they get back.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] direction      'after' | 'before' | '' (the first page)
  ARGV[3] score          of the boundary
  ARGV[4] member         of the boundary
  ARGV[5] limit
  ARGV[6] order          the discipline of the page before; empty for the first page
  Returns {"result":"page","order":…,"entries":[waiter,…],"before":[score,member]?,
           "after":[score,member]?} | {"result":"again"}
  Errors  NO_NAMESPACE | NO_SEMAPHORE
          REORDERED
]]
local name, direction, score, member, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local order = ARGV[6]

local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
read_queue_fields(s)
if order ~= '' and order ~= s.discipline then
  return redis.error_reply(REORDERED)
end
-- A wait that moves between the two lists keeps its score, so no page repeats or skips it.
local queue, parked = s.key .. ':queue', s.key .. ':parked'
local entries, before, behind = page({ queue, parked }, direction, score, member, limit)
local text = page_json(entries, before, behind, function(lease_id, entry)
  return waiter_json(name, lease_id, entry.slice.list == queue and entry.rank + 1 or 0)
end)
return string.sub(text, 1, -2) .. ',"order":"' .. s.discipline .. '"}'
