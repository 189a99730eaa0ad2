-- Like sweep_first.lua, for scripts to which only the end of a lease matters. It makes the functions of the queue only
-- where a lease has ended.
if redis.call('ZCOUNT', leases, '-inf', int(now)) > 0 and not queue().sweep() then return AGAIN end
