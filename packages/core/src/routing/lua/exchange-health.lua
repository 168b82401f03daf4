-- Takes in one process's reports about targets and gives all targets in trouble.
-- KEYS 1: hash target -> "openUntil trips coolUntil probeUntil probeOwner"
-- KEYS 2: sorted set of live processes by their last beat, if these count each other
-- ARGV 1 clock ('' = the server's), 2 owner, 3 probe lease ms, 4 half-open kept ms, 5 max targets,
--      6 ms that a process counts after its beat ('' = it doesn't), then for each report: type, target, for ms, trips
local now
if ARGV[1] ~= '' then now = tonumber(ARGV[1])
else
  local t = redis.call('TIME')
  now = t[1] * 1000 + (t[2] - t[2] % 1000) / 1000
end
local owner, lease, kept, most = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])

local entries, count = {}, 0
local stored = redis.call('HGETALL', KEYS[1])
for i = 1, #stored, 2 do
  local open, trips, cool, probe, by = string.match(stored[i + 1], '^(%d+) (%d+) (%d+) (%d+) (.*)$')
  entries[stored[i]] = {
    open = tonumber(open), trips = tonumber(trips), cool = tonumber(cool), probe = tonumber(probe), by = by,
    was = stored[i + 1],
  }
  count = count + 1
end

local function close(e) e.open, e.trips, e.probe, e.by = 0, 0, 0, '' end

for i = 7, #ARGV, 4 do
  local kind, target, forMs, trips = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local e = entries[target]
  if not e and (kind == 'open' or kind == 'cool') and count < most then
    e = { open = 0, trips = 0, cool = 0, probe = 0, by = '' }
    entries[target] = e
    count = count + 1
  end
  if e then
    if kind == 'open' then
      if trips > e.trips or (trips == e.trips and e.open <= now) then
        e.open, e.trips, e.probe, e.by = now + math.ceil(forMs), trips, 0, ''
      end
    elseif kind == 'close' then close(e)
    elseif kind == 'restore' then
      close(e)
      e.cool = 0
    elseif kind == 'cool' then e.cool = math.max(e.cool, now + math.ceil(forMs))
    elseif e.open > 0 and e.open <= now and e.probe <= now then
      e.probe, e.by = now + lease, owner
    end
  end
end

-- First its place among the processes.
local out = { { 1, 0 } }
if ARGV[6] ~= '' then
  redis.call('ZADD', KEYS[2], now, owner)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. string.format('%.0f', now - tonumber(ARGV[6])))
  redis.call('PEXPIRE', KEYS[2], ARGV[6])
  local live = redis.call('ZRANGE', KEYS[2], 0, -1)
  table.sort(live)
  for i = 1, #live do
    if live[i] == owner then out[1] = { #live, i - 1 } end
  end
end
for target, e in pairs(entries) do
  if e.open > 0 and e.open + kept <= now then close(e) end
  if e.open == 0 and e.cool <= now then redis.call('HDEL', KEYS[1], target)
  else
    local text = string.format('%.0f %.0f %.0f %.0f %s', e.open, e.trips, e.cool, e.probe, e.by)
    if text ~= e.was then redis.call('HSET', KEYS[1], target, text) end
    local open = e.open == 0 and -1 or math.max(0, e.open - now)
    local mine = e.by == owner and e.open <= now and math.max(0, e.probe - now) or 0
    out[#out + 1] = { target, open, e.trips, math.max(0, e.cool - now), mine }
  end
end
return out
