-- Ends what has expired before anything is read. Where more is left than one script may do, the client
-- calls again.
if not sweep() then return AGAIN end
