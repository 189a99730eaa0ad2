--[[
  list_semaphore_holders: a page of a semaphore's holders, in the order of their grants.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] semaphore      its name
  ARGV[2] direction      'after' | 'before' | '' (the first page)
  ARGV[3] score          of the boundary
  ARGV[4] member         of the boundary
  ARGV[5] limit
  Returns {"result":"page","entries":[holder,…],"before":[score,member]?,"after":[score,member]?}
          | {"result":"again"}
  Errors  NO_NAMESPACE | NO_SEMAPHORE
]]
local name, direction, score, member, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])

local s = semaphore(name)
if not s then return redis.error_reply(NO_SEMAPHORE) end
local entries, before, behind = page({ s.key .. ':holders' }, direction, score, member, limit)
return page_json(entries, before, behind, function(lease_id) return holder_json(name, lease_id) end)
