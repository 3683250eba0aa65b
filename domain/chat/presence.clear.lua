-- Takes a member out of a room on every process.
--
-- KEYS[1]  the room (see room.lua)
-- ARGV[1]  memberNo
-- ARGV[2]  processId of the caller, who knows of it already
-- ARGV[3]  how long the key stays without being touched, ms: marks live as long
--
-- Returns {present, others, version}: 1 when the member was present; the number of other processes that
-- have an entry of the member and a mark now; the version of the change.

local rows = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
local present, others = 0, 0
for i = 1, #rows, 2 do
  local member, process = string.match(rows[i], '^(%d+):(.+)$')
  if member == ARGV[1] then
    redis.call('ZREM', KEYS[1], rows[i])
    if tonumber(rows[i + 1]) > now then present = 1 end
    if process ~= ARGV[2] then
      redis.call('ZADD', KEYS[1], now + ARGV[3], '!' .. rows[i])
      others = others + 1
    end
  end
end
local version = nextVersion(KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { present, others, version }
