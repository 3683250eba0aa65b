-- Who is present in a room.
--
-- KEYS[1]  the room (see room.lua)
--
-- Returns {version, member…}: the version of the latest change, and the numbers of the members, in no order,
-- one per process that has them.

local answer = { tonumber(redis.call('ZSCORE', KEYS[1], '#') or 0) }
for _, member in ipairs(present(KEYS[1])) do answer[#answer + 1] = tonumber(member) end
return answer
