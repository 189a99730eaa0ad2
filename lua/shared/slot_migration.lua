-- In a cluster, while a slot moves to another server, some keys may have moved already: a script would
-- break off at the first of them, half done. Asking for a key that never exists shows this beforehand.
-- (The index of namespaces has no hash tag: the key beside it would be in another slot.)
local probe = string.find(KEYS[1], '{', 1, true) and redis.pcall('EXISTS', KEYS[1] .. ':none')
if type(probe) == 'table' and probe.err then
  return redis.error_reply('TRYAGAIN the slot of this namespace is moving to another server')
end
