-- One process says again who is in its rooms, and finds out what became of the others. That a removal
-- and the news of it are one step is what makes exactly one process announce a member who is gone.
--
-- KEYS     rooms (see enter.lua) of one hash slot
-- ARGV[1]  processId
-- ARGV[2]  how long an entry lives, ms
-- ARGV[3]  how long the key stays without being touched, ms: marks live as long
-- ARGV[4]  1 to remove the entries of others whose time has run out
-- ARGV[5…] per room, the members this process has there and, with a minus, those who have left without
--          Redis having heard of it: `3,9,-4`
--
-- Returns triples {room, memberNo, what}, the room as its position in KEYS; `what` is 0 for a member who
-- is gone, 1 for one who is back, 2 for one who was cleared and whom this process is to forget.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local process, ends = ARGV[1], now + ARGV[2]
local news = {}

local function tell(room, member, what)
  news[#news + 1] = { room, tonumber(member), what }
end

for room, key in ipairs(KEYS) do
  local rows = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  local known, alive, add, remove = {}, {}, {}, {}
  for i = 1, #rows, 2 do
    local score, member = tonumber(rows[i + 1]), string.match(rows[i], '^(%d+):')
    known[rows[i]] = score
    if member and score > now then alive[member] = (alive[member] or 0) + 1 end
  end

  for sign, member in string.gmatch(ARGV[4 + room], '(%-?)(%d+)') do
    local entry = member .. ':' .. process
    local was = known[entry] and known[entry] > now
    known[entry] = nil
    if sign == '-' then
      if was then alive[member] = alive[member] - 1 end
      remove[#remove + 1] = entry
      remove[#remove + 1] = '!' .. entry
      known['!' .. entry] = nil
      tell(room, member, (alive[member] or 0) > 0 and 1 or 0)
    elseif known['!' .. entry] then
      remove[#remove + 1] = '!' .. entry
      known['!' .. entry] = nil
      tell(room, member, 2)
    else
      if not was then
        if (alive[member] or 0) == 0 then tell(room, member, 1) end
        alive[member] = (alive[member] or 0) + 1
      end
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
          tell(room, member, 0)
        end
      end
    end
  end

  if #remove > 0 then redis.call('ZREM', key, unpack(remove)) end
  if #add > 0 then
    redis.call('ZADD', key, unpack(add))
    redis.call('PEXPIRE', key, ARGV[3])
  end
end
return news
