-- Replaces clock.lua in tests, by a time that they set: so no test sleeps for a TTL.
local time = redis.call('TIME')
local now = tonumber(redis.call('GET', KEYS[1] .. ':clock')) or time[1] * 1000000 + time[2]
