-- One process says again who is in its rooms, and finds out what became of the others. That a removal
-- and the news of it are one step is what makes exactly one process announce a member who is gone.
--
-- KEYS     rooms (see room.lua) of one hash slot
-- ARGV[1]  processId
-- ARGV[2]  how long an entry lives, ms
-- ARGV[3]  how long the key stays without being touched, ms: marks live as long
-- ARGV[4]  1 to remove the entries of others whose time has run out
-- ARGV[5…] per room, the members this process has there, and with a sign those whose coming (+) or going
--          (-) Redis has not confirmed and that are to be told in any case: `3,+9,-4`
--
-- Returns two lists:
-- - news: rows {room, memberNo, what, version}, the room as its position in KEYS; `what` is 0 for a member
--   who is gone, 1 for one who is there, 2 for one who was cleared and whom this process is to forget
-- - states: for each room {version, memberNo…}, the version of the latest change and who is present now

local GONE, THERE, CLEARED = 0, 1, 2
local process, ends = ARGV[1], now + ARGV[2]
local news, states = {}, {}

local function tell(room, member, what)
  local version = 0
  if what ~= CLEARED then
    version = nextVersion(KEYS[room])
    states[room][1] = version
  end
  news[#news + 1] = { room, tonumber(member), what, version }
end

for room, key in ipairs(KEYS) do
  local rows = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  local known, alive, add, remove = {}, {}, {}, {}
  for i = 1, #rows, 2 do
    local score, member = tonumber(rows[i + 1]), string.match(rows[i], '^(%d+):')
    known[rows[i]] = score
    if member and score > now then alive[member] = (alive[member] or 0) + 1 end
  end
  states[room] = { known['#'] or 0 }
  known['#'] = nil

  for sign, member in string.gmatch(ARGV[4 + room], '([+-]?)(%d+)') do
    local entry = member .. ':' .. process
    local was = known[entry] and known[entry] > now
    known[entry] = nil
    if sign == '-' then
      if was then alive[member] = alive[member] - 1 end
      remove[#remove + 1] = entry
      remove[#remove + 1] = '!' .. entry
      known['!' .. entry] = nil
      tell(room, member, (alive[member] or 0) > 0 and THERE or GONE)
    elseif known['!' .. entry] then
      remove[#remove + 1] = '!' .. entry
      known['!' .. entry] = nil
      tell(room, member, CLEARED)
    else
      if sign == '+' or (not was and (alive[member] or 0) == 0) then tell(room, member, THERE) end
      if not was then alive[member] = (alive[member] or 0) + 1 end
      add[#add + 1] = ends
      add[#add + 1] = entry
    end
  end

  if ARGV[4] == '1' then
    local told = {}
    for entry, score in pairs(known) do
      if score <= now then
        remove[#remove + 1] = entry
        local member = string.match(entry, '^(%d+):')
        if member and not told[member] and (alive[member] or 0) == 0 then
          told[member] = true
          tell(room, member, GONE)
        end
      end
    end
  end

  if #remove > 0 then redis.call('ZREM', key, unpack(remove)) end
  if #add > 0 then redis.call('ZADD', key, unpack(add)) end
  redis.call('PEXPIRE', key, ARGV[3])
  for member, processes in pairs(alive) do
    if processes > 0 then table.insert(states[room], tonumber(member)) end
  end
end
return { news, states }
