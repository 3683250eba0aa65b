-- What the scripts beside this one share; each is run with these lines before its own.
--
-- A room is a sorted set of
-- - entries `memberNo:processId`, each scored with the time at which it ends unless its process refreshes
--   it, in ms by this server's clock: those of the processes may differ
-- - marks `!memberNo:processId` for entries that were cleared, until their process has heard of it
-- - `#`, scored with the version of the latest change of who is present

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Those who are present, each as often as there are processes that have them.
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

-- The version of a change that is being made. It is the time in µs, so that it rises although the room
-- was forgotten meanwhile, but never falls back with the clock while the room is remembered. The caller
-- sets when the key expires.
local function nextVersion(key)
  local last = tonumber(redis.call('ZSCORE', key, '#') or 0)
  local version = math.max(last + 1, time[1] * 1000000 + time[2])
  redis.call('ZADD', key, version, '#')
  return version
end
