--[[
  list_namespaces: a page of the index of names. The index has a slot of its own; its reader looks up each
  record, and corrects the index where a record is missing.

  KEYS[1] grackle:namespaces   zset   name -> 0
  ARGV[1] direction            'after' | 'before' | '' (the first page)
  ARGV[2] score                of the boundary
  ARGV[3] member               of the boundary
  ARGV[4] limit
  Returns {"result":"page","entries":[name,…],"before":[score,member]?,"after":[score,member]?}
]]
local index = KEYS[1]
local direction, score, member, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

local entries, before, behind = page({ index }, direction, score, member, limit)
return page_json(entries, before, behind, function(name) return cjson.encode(name) end)
