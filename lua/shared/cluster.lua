-- In a cluster, while the slot is on its way to another server some keys may be there already, and a
-- script would break off at the first of them, half-way. A key that never exists tells beforehand.
-- (The index is one key, without a tag: the key beside it would be in another slot.)
local probe = string.find(KEYS[1], '{', 1, true) and redis.pcall('EXISTS', KEYS[1] .. ':none')
if type(probe) == 'table' and probe.err then
  return redis.error_reply('TRYAGAIN the slot of this namespace is on its way')
end
