-- A member's last connection on one process leaves a room.
--
-- KEYS[1]  the room (see enter.lua)
-- ARGV[1]  memberNo
-- ARGV[2]  processId
--
-- Returns 1 when the member is present on no process any more.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local entry = ARGV[1] .. ':' .. ARGV[2]
redis.call('ZREM', KEYS[1], entry, '!' .. entry)
for _, live in ipairs(redis.call('ZRANGE', KEYS[1], '(' .. now, '+inf', 'BYSCORE')) do
  if string.match(live, '^(%d+):') == ARGV[1] then return 0 end
end
return 1
