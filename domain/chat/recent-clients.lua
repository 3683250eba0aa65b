-- A member seen authenticated from a client, and the rooms shown there.
--
-- KEYS[1]  the member at the client: a sorted set that expires with the memory
--            upTo    scored with a room number: all rooms up to it were listed
--            CHATNO  a room that was opened, scored with the time (µs by this server's clock)
--            seen    scored with the time of the latest touch
-- ARGV[1]  command: touch, or find, which returns the time of the latest touch if the room was shown
-- ARGV[2]  find: chatNo
-- ARGV[2]  touch: how long it is remembered, ms
-- ARGV[3]  touch: most opened rooms remembered
-- ARGV[4]  touch: upTo
-- ARGV[5]  touch: how long ago it was, ms: not 0 where it is repeated, as Redis had lost it
-- ARGV[6…] touch: rooms opened

if ARGV[1] == 'find' then
  local shown = redis.call('ZSCORE', KEYS[1], ARGV[2])
    or tonumber(redis.call('ZSCORE', KEYS[1], 'upTo') or 0) >= tonumber(ARGV[2])
  return shown and redis.call('ZSCORE', KEYS[1], 'seen')
end
local time = redis.call('TIME')
local at = string.format('%.0f', time[1] * 1000000 + time[2] - ARGV[5] * 1000)
redis.call('ZADD', KEYS[1], 'GT', ARGV[4], 'upTo')
for i = 6, #ARGV do redis.call('ZADD', KEYS[1], 'GT', at, ARGV[i]) end
redis.call('ZADD', KEYS[1], 'GT', at, 'seen')
-- The first is upTo, the last one seen.
redis.call('ZREMRANGEBYRANK', KEYS[1], 1, -2 - ARGV[3])
-- Without a limit it is -1.
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
