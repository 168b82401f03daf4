-- The end of a request, once by its id: hold released, cost booked, record queued, cache entry written.
-- KEYS 1 epoch, 2 project, 3 key, 4 log, 5 holds, 6 leases, 7 customer, 8 done marker, 9 projects,
--      10 cache values, 11 facts, 12 by age, 13 by expiry, 14 totals, 15 marker of the commit it was sent in before
-- ARGV 1 epoch, 2 clock, 3 request, 4 mode (held, unheld, force, known, release; 'known r<cost> <time>': the reaper booked that), 5 cost, 6 tokens, 7 time of admission,
--      8 project id, 9 customer id or '', 10 record, 11 number of that commit or '',
--      12 ids of budgets that may cover the request, [13 cache key, 14 value, 15 ttl, 16 owner, 17 byte bound]
-- Reply: entry id (the first one, when it was settled before), or a code: 0 wrong epoch, 1 released, 2 unknown hold.

-- Books `cost` in those of the budgets that are counted in the period of `at`.
local function book_covering(project, ids, at, cost)
  if ids == '' or cost == 0 then return end
  local names_at, fields_at = {}, {}
  for id in string.gmatch(ids, '%S+') do
    local home = home_of(id, project)
    local names, fields = names_at[home] or {}, fields_at[home] or {}
    names[#names + 1] = id
    fields[#fields + 1] = 'b' .. id
    names_at[home], fields_at[home] = names, fields
  end
  for home, names in pairs(names_at) do
    local kept, changes = call('HMGET', home, unpack(fields_at[home])), {}
    for i = 1, #names do
      local period, latest, before = period_of(names[i], at), read_kept(kept[i])
      if period == latest or period == before then
        changes[#changes + 1] = 'bs' .. names[i] .. ':' .. whole(period)
        changes[#changes + 1] = cost
      end
    end
    add_to_hash(home, changes)
  end
end

if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local mode, cost, record = ARGV[4], tonumber(ARGV[5]), ARGV[10]
local stored = call('HGET', KEYS[5], ARGV[3])
local mark = not stored and call('GET', KEYS[8])
local booked = string.match(mode, '^known (r.+)')
if booked then
  mode = 'known'
  if not stored and not mark then mark = booked end
end
local reaped, reaped_at
if mark then reaped, reaped_at = string.match(mark, '^r(%d+) (%d+)') end
local only_release = mode == 'release' or mode == 'known'
if only_release then
  if not stored and not (reaped and mode == 'known') then return 1 end
  if stored then cost = 0 end
end

local marker_ms
local now
local function clock()
  now = now or read_clock(ARGV[2])
  return now
end

if stored then
  local hold, _, tokens, tpm, at, counters = parse_hold(stored)
  book_spend(KEYS[2], KEYS[3], at, cost, hold, 1)
  book_held(KEYS[2], counters, cost, hold)
  if ARGV[9] ~= '' then book_customer(KEYS[7], at, cost, hold) end
  if tpm > 0 then
    -- By the limit of now: the hold's may have been changed meanwhile.
    local T = call('HMGET', KEYS[3], 'tl', 'tt', 'tb')
    tpm = tonumber(T[3]) or tpm
    local level = bucket_adjust(bucket_level(T[1], T[2], clock(), tpm, tpm), tokens - tonumber(ARGV[6]), tpm)
    call('HSET', KEYS[3], 'tl', whole(level), 'tt', whole(clock()))
  end
  local given_back = {}
  for name in string.gmatch(counters, ' (T%S+)') do given_back[name] = { tokens - tonumber(ARGV[6]) } end
  if next(given_back) then adjust_levels(given_back, clock()) end
  call('HDEL', KEYS[5], ARGV[3])
  call('ZREM', KEYS[6], ARGV[3])
  if only_release then return 1 end
  marker_ms = DONE_MARKER_MS
elseif mark then
  if not reaped then return string.sub(mark, 2) end
  -- The reaper booked a guess: the one late correction changes the counters by the difference.
  local at = tonumber(reaped_at)
  book_spend(KEYS[2], KEYS[3], at, cost - tonumber(reaped), 0, 0)
  book_covering(KEYS[2], ARGV[12], at, cost - tonumber(reaped))
  if ARGV[9] ~= '' then book_customer(KEYS[7], at, cost - tonumber(reaped), 0) end
  marker_ms = REAPED_MARKER_MS
  record = string.sub(record, 1, -2) .. ',"createdAtMs":' .. reaped_at .. ',"corrects":true}'
else
  local commit = ARGV[11] ~= '' and call('GET', KEYS[15])
  local entry, number = string.match(commit or '', '^([^\n]*)\n([^\n]*)\n')
  if number == ARGV[11] and not string.find(commit, '\n' .. ARGV[3] .. '\n', 1, true) then return entry end
  if mode == 'held' then return 2 end
  if cost > 0 then
    local at = tonumber(ARGV[7])
    call('SADD', KEYS[9], ARGV[8])
    book_spend(KEYS[2], KEYS[3], at, cost, 0, 0)
    book_covering(KEYS[2], ARGV[12], at, cost)
    if ARGV[9] ~= '' then
      book_customer(KEYS[7], at, cost, 0)
      call('EXPIRE', KEYS[7], CUSTOMER_SECONDS)
    end
  end
  -- Unheld records at no cost may come twice: the drain is idempotent by id.
  if cost > 0 or mode == 'force' then marker_ms = DONE_MARKER_MS end
end

local entry = call('XADD', KEYS[4], '*', 'i', ARGV[3], 'r', record)
if ARGV[13] then
  -- The new entry's id tells the time as TIME would, for nothing.
  if ARGV[2] == '' then now = tonumber(string.match(entry, '^%d+')) end
  cache_put({ KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14] }, clock(), tonumber(ARGV[17]), string.match(entry, '^%d+'),
    { ARGV[13], ARGV[14], ARGV[15], ARGV[16] })
end
if marker_ms then call('SET', KEYS[8], 's' .. entry, 'PX', marker_ms) end
return entry
