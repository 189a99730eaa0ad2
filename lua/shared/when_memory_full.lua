-- A Redis whose memory is full refuses the first write of a script if it may take memory, and no later
-- one. Scripts that give something back, or keep a lease alive, begin with a write that never does.
redis.call('DEL', namespace .. ':none')
