-- A Redis whose memory is full refuses a script's first write where it may take memory, and none
-- after that. What gives back, or keeps a lease alive, begins with one that never takes any.
redis.call('DEL', namespace .. ':none')
