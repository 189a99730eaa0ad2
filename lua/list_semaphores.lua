--[[
  list_semaphores: a page of a namespace's semaphores, in name order.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] direction      'after' | 'before' | '' (the first page)
  ARGV[2] score          of the boundary
  ARGV[3] member         of the boundary
  ARGV[4] limit
  Returns {"result":"page","entries":[semaphore,…],"before":[score,member]?,"after":[score,member]?}
          | {"result":"again"}
  Errors  NO_NAMESPACE
]]
local direction, score, member, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

local entries, before, behind = page({ semaphores }, direction, score, member, limit)
return page_json(entries, before, behind, function(name) return semaphore_json(semaphore(name)) end)
