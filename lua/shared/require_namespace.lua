-- Ends the script where the namespace does not exist.
if redis.call('EXISTS', namespace) == 0 then return redis.error_reply(NO_NAMESPACE) end
