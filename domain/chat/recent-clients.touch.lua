-- A member was seen authenticated from a client.
--
-- KEYS[1]  the client: a sorted set of member numbers, each scored with the time it was last seen (µs, by
--          this server's clock: those of the processes may differ)
-- ARGV[1]  memberNo
-- ARGV[2]  how long a binding lasts, ms
-- ARGV[3]  most members kept

local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] * 1000000 + time[2], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
