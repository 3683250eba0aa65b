-- A member enters a room on one process.
--
-- KEYS[1]  the room: a sorted set of entries `memberNo:processId`, each scored with the time at which it
--          ends unless its process refreshes it (ms, by this server's clock: those of the processes may
--          differ). A mark `!memberNo:processId` stands for an entry that was cleared, until its process
--          has heard of it.
-- ARGV[1]  memberNo
-- ARGV[2]  processId
-- ARGV[3]  how long an entry lives, ms
-- ARGV[4]  how long the key stays without being touched, ms: marks live as long
--
-- Returns {arrived, cleared}: 1 when the member was not present on any process; 1 when what this process
-- had of the member before was cleared.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local entry = ARGV[1] .. ':' .. ARGV[2]
local arrived = 1
for _, live in ipairs(redis.call('ZRANGE', KEYS[1], '(' .. now, '+inf', 'BYSCORE')) do
  if string.match(live, '^(%d+):') == ARGV[1] then arrived = 0 end
end
local cleared = redis.call('ZREM', KEYS[1], '!' .. entry)
redis.call('ZADD', KEYS[1], now + ARGV[3], entry)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return { arrived, cleared }
