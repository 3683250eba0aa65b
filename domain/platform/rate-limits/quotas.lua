-- What a member has stored of one kind in the current window.
--
-- KEYS[1]  the number of records; expires at the end of the window
-- ARGV[1]  command: take, which counts a record and returns {0, the end of its window}, or counts nothing and
--          returns {the time, ms, until the window ends}; or give back, which takes a counted record off
-- ARGV[2]  take: most records; give back: the end of the window in which it was counted
-- ARGV[3]  take: the window, ms

-- When the window ends, epoch ms by this server's clock.
local function windowEnd()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000) + redis.call('PTTL', KEYS[1])
end

local stored = tonumber(redis.call('GET', KEYS[1]) or 0)
if ARGV[1] == 'give back' then
  -- Another window has begun if the ends differ by more than the rounding of this server's clock.
  if stored > 0 and math.abs(windowEnd() - tonumber(ARGV[2])) < 1000 then redis.call('DECR', KEYS[1]) end
  return {}
end
-- At least 1: the last ms may have begun.
if stored >= tonumber(ARGV[2]) then return { math.max(1, redis.call('PTTL', KEYS[1])) } end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return { 0, windowEnd() }
