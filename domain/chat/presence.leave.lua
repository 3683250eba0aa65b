-- A member's last connection on one process leaves a room.
--
-- KEYS[1]  the room (see room.lua)
-- ARGV[1]  memberNo
-- ARGV[2]  processId
-- ARGV[3]  how long the key of an empty room stays, ms
-- ARGV[4]  how long the key stays without being touched, ms: marks live as long
--
-- Returns {gone, version}: 1 when the member is present on no process any more, unless who cleared the
-- entry tells that; the version of that change, else 0.

local entry = ARGV[1] .. ':' .. ARGV[2]
local left = redis.call('ZREM', KEYS[1], entry)
local cleared = redis.call('ZREM', KEYS[1], '!' .. entry)
if (left == 0 and cleared == 1) or isPresent(KEYS[1], ARGV[1]) then return { 0, 0 } end
local version = nextVersion(KEYS[1])
redis.call('PEXPIRE', KEYS[1], redis.call('ZCARD', KEYS[1]) == 1 and ARGV[3] or ARGV[4])
return { 1, version }
