-- How fast the queue drains: the weight that was granted to waiters in the present window (`drained`, since
-- `drained_since`) and in the one before (`drained_before`, -1 where nobody waited then). Read and written
-- only where a waiter is granted, a queue forms, or somebody asks.
local WINDOW = 30000000
local SECOND = 1000000

-- The three values as of now. The fields do not exist before somebody has waited.
local function drained_by_now(s)
  if not s.drained then
    local f = redis.call('HMGET', s.key, 'drained', 'drained_before', 'drained_since')
    s.drained, s.drained_before = tonumber(f[1] or 0), tonumber(f[2] or -1)
    s.drained_since = tonumber(f[3] or 0)
  end
  local windows = math.floor((now - s.drained_since) / WINDOW)
  if windows == 0 then return s.drained, s.drained_before, s.drained_since end
  -- The clock was set back.
  if windows < 0 then return 0, -1, now end
  return 0, windows == 1 and s.drained or 0, s.drained_since + windows * WINDOW
end

local function note_drained(s, weight)
  s.drained, s.drained_before, s.drained_since = drained_by_now(s)
  s.drained, s.drain_changed = math.min(s.drained + weight, MAX_PERMITS), true
end

-- A queue forms. Where there was none of late, the time before it says nothing about its speed.
local function start_measuring(s)
  local drained, before = drained_by_now(s)
  if drained == 0 and before <= 0 then
    s.drained, s.drained_before, s.drained_since, s.drain_changed = 0, -1, now, true
  end
end

-- The weight that drained of late, and in how many seconds; nothing where none did, or in less than a
-- second.
local function recently_drained(s)
  local drained, before, since = drained_by_now(s)
  local seconds = math.floor((now - since) / SECOND)
  if before >= 0 then seconds, drained = seconds + WINDOW / SECOND, drained + before end
  if drained > 0 and seconds > 0 then return math.min(drained, MAX_PERMITS), seconds end
end
