--[[
  list_leases: a page of leases, in the order of their creation.

  KEYS[1] grackle:{ns}   hash   the namespace
  ARGV[1] process_id     only this process's leases; empty for all
  ARGV[2] direction      'after' | 'before' | '' (the first page)
  ARGV[3] score          of the boundary
  ARGV[4] member         of the boundary
  ARGV[5] limit
  Returns {"result":"page","entries":[lease,…],"before":[score,member]?,"after":[score,member]?}
          | {"result":"again"}
  Errors  NO_NAMESPACE
]]
local process_id, direction, score, member, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])

local list = process_id == '' and created or process_key(process_id)
local entries, before, behind = page({ list }, direction, score, member, limit)
return page_json(entries, before, behind, lease_json)
