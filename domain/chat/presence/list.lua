-- Who is present in a room.
--
-- KEYS[1]  the room (see enter.lua)
--
-- Returns the numbers of the members, in no order, one per process that has them.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local members = {}
for _, live in ipairs(redis.call('ZRANGE', KEYS[1], '(' .. now, '+inf', 'BYSCORE')) do
  local member = string.match(live, '^(%d+):')
  if member then members[#members + 1] = tonumber(member) end
end
return members
