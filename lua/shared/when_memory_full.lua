-- For scripts that must run where Redis has no memory left.
allow_when_full()
