--[[
  list_semaphore_waiters: a page of those who wait for a semaphore, by their places: in the order in
  which they are admitted, those set aside among them, where they stand when they come back.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] direction      'after' | 'before' | '' (the first page)
  ARGV[3] score          of the boundary
  ARGV[4] member         of the boundary
  ARGV[5] limit
  ARGV[6] order          the discipline under which the boundary was seen, or empty
  Returns {"result":"page","order":…,"entries":[waiter,…],"before":[score,member]?,
           "after":[score,member]?} | {"result":"again"}
  Errors  NOTFOUND namespace not found | NOTFOUND semaphore not found
          REORDERED the queue has another discipline since
]]
local name, direction, score, member, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local order = ARGV[6]

if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
if not sweep() then return AGAIN end
local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
read_queue(s)
if order ~= '' and order ~= s.discipline then
  return redis.error_reply('REORDERED the queue has another discipline since')
end
-- One that moves between the two lists keeps its place, so no page repeats or skips it.
local queue, aside = s.key .. ':queue', s.key .. ':aside'
local entries, before, behind = page({ queue, aside }, direction, score, member, limit)
local text = page_json(entries, before, behind, function(lease_id, entry)
  return waiter_json(name, lease_id, entry.slice.list == queue and entry.rank + 1 or 0)
end)
return string.sub(text, 1, -2) .. ',"order":"' .. s.discipline .. '"}'
