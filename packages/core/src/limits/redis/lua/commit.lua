-- The ends of requests of one turn, as far as nothing is unclear: holds released, costs booked, records queued, answers
-- cached. A row whose hold is not there, or that cannot be read, changes nothing: `settle` decides it by itself.
-- KEYS 1 epoch, 2 log, 3 holds, 4 leases, 5 marker of this commit, 6 cache values, 7 facts, 8 by age, 9 by expiry,
--      10 totals, then per account: project, key, customer
-- ARGV 1 epoch, 2 clock, 3 cache's byte bound, 4 number of this commit, 5 accounts, then per account: customer id or '', then per row:
--      account, mode (held; unheld: only a record, at no cost), request id, cost, tokens, record, cache key or '', and with
--      one: value, ttl, owner
-- Reply: 0 (another epoch), or per row: entry id, or 2 = unclear.
if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local ROW = 7
local first = 6 + tonumber(ARGV[5])

local starts, held, n = {}, {}, 0
local at = first
while ARGV[at] do
  n = n + 1
  starts[n] = at
  if ARGV[at + 1] == 'held' then held[#held + 1] = ARGV[at + 2] end
  at = at + (ARGV[at + 6] == '' and ROW or ROW + 3)
end
local holds = {}
if #held > 0 then
  local stored = call('HMGET', KEYS[3], unpack(held))
  for i = 1, #held do holds[held[i]] = stored[i] end
end

-- Sums by account and day of admission, and of budgets by project and counters; tokens given back by key and
-- level, in the order of the rows.
local sums, budgets_of, tokens_of, tokens_of_levels = {}, {}, {}, {}
local function book_budgets(project, counters, cost, hold)
  local budgets = budgets_of[project] or {}
  budgets_of[project] = budgets
  local sum = budgets[counters] or { cost = 0, hold = 0 }
  sum.cost, sum.hold, budgets[counters] = sum.cost + cost, sum.hold + hold, sum
end
-- True where the row is clear: then all its sums are taken, else none.
local function book(row)
  local cost = tonumber(ARGV[row + 3])
  if ARGV[row + 1] ~= 'held' then return cost == 0 end
  local text = holds[ARGV[row + 2]]
  if not text or cost % 1 ~= 0 then return false end
  local hold, _, tokens, tpm, booked_at, counters = parse_hold(text)
  local account = tonumber(ARGV[row])
  local day, given_back = account .. ' ' .. day_of(booked_at), tokens - tonumber(ARGV[row + 4])

  holds[ARGV[row + 2]] = nil
  local sum = sums[day]
  if not sum then
    sum = { account = account, at = booked_at, cost = 0, hold = 0, open = 0 }
    sums[day] = sum
  end
  sum.cost, sum.hold, sum.open = sum.cost + cost, sum.hold + hold, sum.open + 1
  if counters ~= '' then book_budgets(KEYS[11 + account * 3], counters, cost, hold) end
  for name in string.gmatch(counters, ' (T%S+)') do
    tokens_of_levels[name] = tokens_of_levels[name] or {}
    table.insert(tokens_of_levels[name], given_back)
  end
  if tpm > 0 then
    local key = KEYS[12 + account * 3]
    tokens_of[key] = tokens_of[key] or { tpm = tpm }
    table.insert(tokens_of[key], given_back)
  end
  return true
end

local replies, released, cached, unclear, last = {}, {}, {}, '', nil
for i = 1, n do
  local row = starts[i]
  local could, is_clear = pcall(book, row)
  if could and is_clear then
    last = call('XADD', KEYS[2], '*', 'i', ARGV[row + 2], 'r', ARGV[row + 5])
    replies[i] = last
    if ARGV[row + 1] == 'held' then released[#released + 1] = ARGV[row + 2] end
    if ARGV[row + 6] ~= '' then
      local m = #cached
      cached[m + 1], cached[m + 2], cached[m + 3], cached[m + 4] = ARGV[row + 6], ARGV[row + 7], ARGV[row + 8], ARGV[row + 9]
    end
  else
    replies[i] = 2
    unclear = unclear .. ARGV[row + 2] .. '\n'
  end
end

for _, sum in pairs(sums) do
  local k, customer = 11 + sum.account * 3, ARGV[6 + sum.account]
  book_spend(KEYS[k], KEYS[k + 1], sum.at, sum.cost, sum.hold, sum.open)
  if customer ~= '' then book_customer(KEYS[k + 2], sum.at, sum.cost, sum.hold) end
end
for project, budgets in pairs(budgets_of) do book_counters(project, budgets) end
if #released > 0 then
  call('HDEL', KEYS[3], unpack(released))
  call('ZREM', KEYS[4], unpack(released))
  call('SET', KEYS[5], last .. '\n' .. ARGV[4] .. '\n' .. unclear, 'PX', DONE_MARKER_MS)
end

local now
local function clock()
  -- The new entry's id tells the time as TIME would, for nothing.
  now = now or (ARGV[2] == '' and tonumber(string.match(last, '^%d+'))) or read_clock(ARGV[2])
  return now
end
for key, T in pairs(tokens_of) do
  -- By the limit of now: the hold's may have been changed meanwhile.
  local v = call('HMGET', key, 'tl', 'tt', 'tb')
  local tpm = tonumber(v[3]) or T.tpm
  local level = bucket_level(v[1], v[2], clock(), tpm, tpm)
  for i = 1, #T do level = bucket_adjust(level, T[i], tpm) end
  call('HSET', key, 'tl', whole(level), 'tt', whole(clock()))
end
if next(tokens_of_levels) then adjust_levels(tokens_of_levels, clock()) end
local function cache_rows()
  cache_put({ KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10] }, clock(), tonumber(ARGV[3]), string.match(last, '^%d+'), cached)
end
-- What cannot be cached is no reason to book less.
if #cached > 0 then pcall(cache_rows) end
return replies
