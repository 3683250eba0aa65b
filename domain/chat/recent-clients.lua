-- Which members were seen from a client.
--
-- KEYS[1]  the client: a sorted set of member numbers, each scored with the time the member was last seen
--          (µs by this server's clock: those of the processes may differ)
-- ARGV[1]  command: touch, or find, which returns the member numbers, last seen first
-- ARGV[2]  how long a member is remembered, ms
-- ARGV[3]  touch: memberNo
-- ARGV[4]  touch: most members remembered

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[1] == 'find' then
  local since = string.format('%.0f', now - ARGV[2] * 1000)
  return redis.call('ZRANGE', KEYS[1], '+inf', '(' .. since, 'BYSCORE', 'REV')
end
redis.call('ZADD', KEYS[1], now, ARGV[3])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
