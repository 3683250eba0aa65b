-- Who is present in a room.
--
-- KEYS[1]  the room (see room.lua)
--
-- Returns the numbers of the members, in no order, one per process that has them.

local members = present(KEYS[1])
for i, member in ipairs(members) do members[i] = tonumber(member) end
return members
