-- Like sweep_first.lua, for scripts that only read: they do what is due where Redis has no memory left, too. A script
-- that takes memory itself must be refused there.
if not sweep(allow_when_full) then return AGAIN end
