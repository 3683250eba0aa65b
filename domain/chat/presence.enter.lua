-- A member enters a room on one process.
--
-- KEYS[1]  the room (see room.lua)
-- ARGV[1]  memberNo
-- ARGV[2]  processId
-- ARGV[3]  how long an entry lives, ms
-- ARGV[4]  how long the key stays without being touched, ms: marks live as long
--
-- Returns {arrived, cleared, version}: 1 when the member was not present on any process; 1 when what this
-- process had of the member before was cleared; the version of the arrival, else 0.

local entry = ARGV[1] .. ':' .. ARGV[2]
local arrived, version = 0, 0
if not isPresent(KEYS[1], ARGV[1]) then
  arrived, version = 1, nextVersion(KEYS[1])
end
local cleared = redis.call('ZREM', KEYS[1], '!' .. entry)
redis.call('ZADD', KEYS[1], now + ARGV[3], entry)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return { arrived, cleared, version }
