-- Who is present in rooms, on all processes together.
--
-- KEYS     rooms of one hash slot: many for `refresh`, else one. A room is a sorted set of
--          - entries `memberNo:processId`, scored with the time at which they expire unless their process
--            renews them, ms by this server's clock: those of the processes may differ
--          - tombstones, scored with when the member last left, plus ARGV[4], which is the same for all processes:
--            `!memberNo:processId` of an entry that was removed, so that its process learns of it
--            `?memberNo:processId` of one that stays: the removal came late, or the process has had connections since that
--            Redis had not heard of; the process decides by their times which are older
--            `!memberNo` for processes whose arrivals Redis has not heard of
--          - `#`, scored with the version of the latest change of who is present
--          and last the mark of their group, which never expires: without it, this server has lost its data
-- ARGV[1]  command: enter, leave, clear, list or refresh
-- ARGV[2]  processId of the caller
-- ARGV[3]  lifetime of an entry, ms
-- ARGV[4]  lifetime of a tombstone, and of an unused key, ms
-- ARGV[5…] arguments of the command, named at its head, as are its answers

-- Returns {lost, answer}: 1 if the mark was missing, else 0; the answer of the command

local mark = table.remove(KEYS)
local lost = redis.call('EXISTS', mark) == 0
if lost then redis.call('SET', mark, 1) end

local process, lifetime, keyLifetime = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Members present, once for each process that has them.
local function present(key)
  local members = {}
  for _, entry in ipairs(redis.call('ZRANGE', key, '(' .. now, '+inf', 'BYSCORE')) do
    local member = string.match(entry, '^(%d+):')
    if member then members[#members + 1] = member end
  end
  return members
end

local function isPresent(key, memberNo)
  for _, member in ipairs(present(key)) do
    if member == memberNo then return true end
  end
  return false
end

-- The version of a change that is being made: the time in µs, so that versions rise although a room's key
-- has expired, and at least one more than the last, so that they rise although the clock is set back.
-- The caller sets when the key expires.
local function nextVersion(key)
  local last = tonumber(redis.call('ZSCORE', key, '#') or 0)
  local version = math.max(last + 1, time[1] * 1000000 + time[2])
  redis.call('ZADD', key, version, '#')
  return version
end

-- When the member of a tombstone left, ms; 0 if there is none, or this server's clock has been set back behind it.
local function leftAt(tombstone)
  local at = (tombstone or 0) - keyLifetime
  return at <= now and math.max(at, 0) or 0
end

local commands = {}

-- A member enters a room on the calling process.
-- ARGV[5]  memberNo
-- Returns {arrival, cleared}: the version of the arrival, 0 if the member was present already; 1 if this
-- process's earlier entry of the member was cleared, else 0.
function commands.enter()
  local key, entry = KEYS[1], ARGV[5] .. ':' .. process
  local arrival = isPresent(key, ARGV[5]) and 0 or nextVersion(key)
  local cleared = redis.call('ZREM', key, '!' .. entry)
  redis.call('ZADD', key, now + lifetime, entry)
  redis.call('PEXPIRE', key, keyLifetime)
  return { arrival, cleared }
end

-- A member's last connection on the calling process leaves a room.
-- ARGV[5]  memberNo
-- Returns the version of the departure; 0 if the member is still present on a process, or if the entry was
-- cleared: then the process that cleared it publishes the departure.
function commands.leave()
  local key, entry = KEYS[1], ARGV[5] .. ':' .. process
  local left = redis.call('ZREM', key, entry)
  local cleared = redis.call('ZREM', key, '!' .. entry)
  redis.call('ZREM', key, '?' .. entry)
  if (left == 0 and cleared == 1) or isPresent(key, ARGV[5]) then return 0 end
  local version = nextVersion(key)
  -- Only `#` is left of an empty room.
  redis.call('PEXPIRE', key, redis.call('ZCARD', key) == 1 and lifetime or keyLifetime)
  return version
end

-- Removes a member from a room on every process.
-- ARGV[5]  memberNo
-- ARGV[6]  0, or how long ago they left, ms, if Redis did not answer then: entries stay, and each process decides which of its
--          connections have entered since
-- Returns {gone, others, version}: 1 if the caller is to publish a departure: the member was present, or left a while ago and
-- is present nowhere; the number of other processes that have a tombstone now; the version of the departure if there is one.
function commands.clear()
  local key, age = KEYS[1], tonumber(ARGV[6])
  local isLate = age > 0
  local rows = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  local known = {}
  for i = 1, #rows, 2 do known[rows[i]] = tonumber(rows[i + 1]) end

  local function bury(tombstone)
    redis.call('ZADD', key, math.max(leftAt(known[tombstone]), now - age) + keyLifetime, tombstone)
  end

  local gone, others = 0, 0
  for row, score in pairs(known) do
    local member, owner = string.match(row, '^(%d+):(.+)$')
    if member == ARGV[5] then
      if not isLate then
        redis.call('ZREM', key, row)
        if score > now then gone = 1 end
      end
      if owner ~= process then
        bury((isLate and '?' or '!') .. row)
        others = others + 1
      end
    end
  end
  bury('!' .. ARGV[5])
  if isLate and not isPresent(key, ARGV[5]) then gone = 1 end
  local version = (gone == 1 or not isLate) and nextVersion(key) or 0
  redis.call('PEXPIRE', key, keyLifetime)
  return { gone, others, version }
end

-- Returns {version, memberNo…}: the version of the room's latest change; members present, in no order, once
-- for each process that has them.
function commands.list()
  local answer = { tonumber(redis.call('ZSCORE', KEYS[1], '#') or 0) }
  for _, member in ipairs(present(KEYS[1])) do answer[#answer + 1] = tonumber(member) end
  return answer
end

-- Renews the calling process's entries, and reports what became of them and of the others. An expired entry
-- is removed and reported in one step, so exactly one process announces a member who is gone.
-- ARGV[5]  1 to remove expired entries of other processes
-- ARGV[6…] per room, the highest version that this process knows, `=` if its connections know all changes up to it and `:` if
--          not, and the members that it has there, behind @ how long ago the latest of their connections entered, ms; with a
--          sign, members whose arrival (+) or departure (-) Redis has not confirmed and that are reported in any case:
--          `1700000000000000:3@60000,+9@1200,-4`
-- Returns two lists:
-- - changes: rows {room, memberNo, kind, version}, the room as its position in KEYS; kind 0: the member is gone, 1: is
--   present; 2: was cleared, and this process is to remove all of the member's connections; 3: this process is to remove those
--   that had entered before so long ago, ms, as stands in place of the version. Tombstones stay: an answer may get lost
-- - rooms: of rooms with changes that its connections may not know, {room, version, memberNo…}, each member once
function commands.refresh()
  local GONE, PRESENT, CLEARED, CLEARED_LATE = 0, 1, 2, 3
  local expires = now + lifetime
  local changes, rooms = {}, {}
  local latest -- version of the latest change of the room at hand

  local function report(room, member, kind)
    local version = nextVersion(KEYS[room])
    latest = version
    changes[#changes + 1] = { room, tonumber(member), kind, version }
  end

  local function reportCleared(room, member, kind, ago)
    changes[#changes + 1] = { room, tonumber(member), kind, ago }
  end

  for room, key in ipairs(KEYS) do
    local rows = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
    -- Entries that remain in `known` below belong to other processes.
    local known, processes, add, remove = {}, {}, {}, {}
    for i = 1, #rows, 2 do
      local score, member = tonumber(rows[i + 1]), string.match(rows[i], '^(%d+):')
      known[rows[i]] = score
      if member and score > now then processes[member] = (processes[member] or 0) + 1 end
    end
    latest = known['#'] or 0
    known['#'] = nil
    local knownVersion, completeness, members = string.match(ARGV[5 + room], '^(%d+)([=:])(.*)$')
    knownVersion = tonumber(knownVersion)
    -- A failover or a flush has lost the room's version, and this server's clock is behind: processes would drop all
    -- changes until it has caught up. No clock is a day ahead; such a version is forged, and is not taken over.
    if knownVersion > latest and knownVersion < (time[1] + 86400) * 1000000 then
      redis.call('ZADD', key, knownVersion, '#')
      latest = nextVersion(key)
    end

    for sign, member, age in string.gmatch(members, '([+-]?)(%d+)@?(%d*)') do
      local entry = member .. ':' .. process
      local was = known[entry] and known[entry] > now
      known[entry] = nil
      local cleared, clearedLate = known['!' .. entry], known['?' .. entry]
      if sign == '-' then
        if was then processes[member] = processes[member] - 1 end
        for _, gone in ipairs({ entry, '!' .. entry, '?' .. entry }) do remove[#remove + 1] = gone end
        report(room, member, (processes[member] or 0) > 0 and PRESENT or GONE)
      else
        -- Without a sign, all connections are older than `!entry`: a confirmed `enter` would have removed it.
        local isExact = cleared and sign == ''
        local mark = (sign == '+' or not was) and known['!' .. member] or nil
        local left = math.max(leftAt(cleared), leftAt(clearedLate), leftAt(mark))
        if isExact or left > now - age then
          if was then processes[member] = processes[member] - 1 end
          remove[#remove + 1] = entry
          reportCleared(room, member, CLEARED, 0)
          -- Of an exact one, who cleared it publishes the departure.
          local isElsewhere = (processes[member] or 0) > 0
          if sign == '+' or not (isExact or isElsewhere) then report(room, member, isElsewhere and PRESENT or GONE) end
        else
          if left > 0 then
            reportCleared(room, member, CLEARED_LATE, now - left)
            add[#add + 1] = left + keyLifetime
            add[#add + 1] = '?' .. entry
          end
          if cleared then remove[#remove + 1] = '!' .. entry end
          if sign == '+' or (not was and (processes[member] or 0) == 0) then report(room, member, PRESENT) end
          if not was then processes[member] = (processes[member] or 0) + 1 end
          add[#add + 1] = expires
          add[#add + 1] = entry
        end
      end
    end

    if ARGV[5] == '1' then
      local reported = {}
      for entry, score in pairs(known) do
        if score <= now then
          remove[#remove + 1] = entry
          local member = string.match(entry, '^(%d+):')
          if member and not reported[member] and (processes[member] or 0) == 0 then
            reported[member] = true
            report(room, member, GONE)
          end
        end
      end
    end

    if #remove > 0 then redis.call('ZREM', key, unpack(remove)) end
    if #add > 0 then redis.call('ZADD', key, unpack(add)) end
    redis.call('PEXPIRE', key, keyLifetime)
    if completeness == ':' or latest ~= knownVersion then
      local answer = { room, latest }
      for member, count in pairs(processes) do
        if count > 0 then answer[#answer + 1] = tonumber(member) end
      end
      rooms[#rooms + 1] = answer
    end
  end
  return { changes, rooms }
end

return { lost and 1 or 0, commands[ARGV[1]]() }
