-- How fast the queue goes on: the weight granted to those who waited in it, in the window that runs
-- (`drained`, since `drained_since`) and in the one before (`drained_before`, -1 where nobody
-- measured then). Read and written only where a waiter is granted, a queue forms or it is asked for.
local WINDOW = 30000000
local SECOND = 1000000

-- The three, as of now. They are not there before somebody has waited.
local function drained_by_now(s)
  if not s.drained then
    local f = redis.call('HMGET', s.key, 'drained', 'drained_before', 'drained_since')
    s.drained, s.drained_before = tonumber(f[1] or 0), tonumber(f[2] or -1)
    s.drained_since = tonumber(f[3] or 0)
  end
  local windows = math.floor((now - s.drained_since) / WINDOW)
  if windows == 0 then return s.drained, s.drained_before, s.drained_since end
  -- The clock went back.
  if windows < 0 then return 0, -1, now end
  return 0, windows == 1 and s.drained or 0, s.drained_since + windows * WINDOW
end

local function drain(s, weight)
  s.drained, s.drained_before, s.drained_since = drained_by_now(s)
  s.drained, s.drain_changed = math.min(s.drained + weight, MAX_PERMITS), true
end

-- A queue forms. Where none was of late, the time before it says nothing of how fast it goes on.
local function measure(s)
  local drained, before = drained_by_now(s)
  if drained == 0 and before <= 0 then
    s.drained, s.drained_before, s.drained_since, s.drain_changed = 0, -1, now, true
  end
end

-- So much weight in the last so many seconds; nothing where none was, or in less than a second.
local function recently_drained(s)
  local drained, before, since = drained_by_now(s)
  local seconds = math.floor((now - since) / SECOND)
  if before >= 0 then seconds, drained = seconds + WINDOW / SECOND, drained + before end
  if drained > 0 and seconds > 0 then return math.min(drained, MAX_PERMITS), seconds end
end
