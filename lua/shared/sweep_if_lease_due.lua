-- The same where nothing but the end of a lease can matter. It makes the functions of the queue only
-- where a lease has ended.
if redis.call('ZCOUNT', leases, '-inf', int(now)) > 0 and not queue().sweep() then return AGAIN end
