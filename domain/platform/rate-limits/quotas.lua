-- What a member has stored of one kind in the current window.
--
-- KEYS[1]  the number of records; expires at the end of the window
-- ARGV[1]  command: take, which counts a record and returns 0, or counts nothing and returns the time, ms, until
--          the window ends; or give back, which takes a counted record off
-- ARGV[2]  take: most records
-- ARGV[3]  take: the window, ms

local stored = tonumber(redis.call('GET', KEYS[1]) or 0)
if ARGV[1] == 'give back' then
  -- After the window has ended, it has nothing to take off.
  if stored > 0 then redis.call('DECR', KEYS[1]) end
  return 0
end
-- At least 1: the last ms may have begun.
if stored >= tonumber(ARGV[2]) then return math.max(1, redis.call('PTTL', KEYS[1])) end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 0
