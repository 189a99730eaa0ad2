-- Stands in for clock.lua in tests: a time they can set, so that none sleeps for a TTL.
local time = redis.call('TIME')
local now = tonumber(redis.call('GET', KEYS[1] .. ':clock')) or time[1] * 1000000 + time[2]
