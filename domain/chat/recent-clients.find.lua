-- The members bound to a client, the latest seen first.
--
-- KEYS[1]  the client (see touch.lua)
-- ARGV[1]  how long a binding lasts, ms

local time = redis.call('TIME')
local since = time[1] * 1000000 + time[2] - ARGV[1] * 1000
return redis.call('ZRANGE', KEYS[1], '+inf', '(' .. string.format('%.0f', since), 'BYSCORE', 'REV')
