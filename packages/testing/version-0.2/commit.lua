local LEASE_MS, DONE_MARKER_MS, REAPED_MARKER_MS = 60000, 300000, 86400000
-- The store's clock in epoch milliseconds; a given time stands in for it in tests only.
local function read_clock(given)
  if given ~= '' then return tonumber(given) end
  local t = redis.call('TIME')
  return t[1] * 1000 + (t[2] - t[2] % 1000) / 1000
end

-- Concatenation prints 14 digits: whole numbers beyond need this.
local function whole(n) return string.format('%d', n) end

local DAY_MS = 86400000
local function day_of(ms) return math.floor(ms / DAY_MS) end

-- Months since the year 0 (days to civil date after Howard Hinnant).
local function month_of(ms)
  local z = math.floor(ms / DAY_MS) + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  return (yoe + era * 400 + (month <= 2 and 1 or 0)) * 12 + month - 1
end

-- Token buckets in whole numbers: a level counts 1/60000 tokens, a rate per minute is units per millisecond.
local UNIT = 60000

-- Level now. A clock that stepped back refills nothing; storing `now` keeps it from locking. What the burst was raised
-- by since it was stored (`before`) is there at once.
local function bucket_level(level, at, now, rate, burst, before)
  local capacity = burst * UNIT
  level = tonumber(level)
  if not level then return capacity end
  local elapsed = now - tonumber(at)
  if elapsed < 0 then elapsed = 0 end
  local raised = math.max(0, burst - (tonumber(before) or burst)) * UNIT
  return math.min(capacity, level + raised + elapsed * rate)
end

-- Milliseconds until `units` are there; -1 = never.
local function bucket_wait(level, units, rate)
  if rate <= 0 then return -1 end
  return math.ceil((units - level) / rate)
end

-- Estimated too much comes back, too little is owed, down to one full bucket.
local function bucket_adjust(level, tokens, burst)
  local capacity = burst * UNIT
  return math.max(-capacity, math.min(capacity, level + tokens * UNIT))
end

-- Integer nano-USD against a limit: sums are kept by HINCRBY in 64 bits, compared as Lua numbers (exact below 2^53).
local function over_limit(limit, spent, held, hold)
  return limit ~= nil and (tonumber(spent) or 0) + (tonumber(held) or 0) + hold > limit
end

-- Adds whole numbers to hash fields: `changes` is {field, delta, field, delta, …}. Several at once are read and written
-- in two commands, as long as their sums are exact in Lua (below 2^53); beyond, Redis adds in 64 bits.
local function add_to_hash(key, changes)
  local fields, deltas, n = {}, {}, 0
  for i = 1, #changes, 2 do
    if changes[i + 1] ~= 0 then
      n = n + 1
      fields[n], deltas[n] = changes[i], changes[i + 1]
    end
  end
  if n > 2 then
    local known, sums = redis.call('HMGET', key, unpack(fields)), {}
    for i = 1, n do
      local sum = (tonumber(known[i]) or 0) + deltas[i]
      if sum >= 9007199254740992 or sum <= -9007199254740992 then break end
      sums[2 * i - 1], sums[2 * i] = fields[i], whole(sum)
    end
    if #sums == 2 * n then
      redis.call('HSET', key, unpack(sums))
      return
    end
  end
  for i = 1, n do redis.call('HINCRBY', key, fields[i], deltas[i]) end
end

-- Months older than the kept ones leave a hash when it enters a new month.
local function prune_months(key, month)
  local fields = {}
  for old = month - 15, month - 4 do
    fields[#fields + 1] = 's' .. old
    fields[#fields + 1] = 'h' .. old
    fields[#fields + 1] = 'n' .. old
  end
  redis.call('HDEL', key, unpack(fields))
end

-- Splits a stored hold: hold, lost, tokens, tokens per minute (0 = none), time of admission.
local function parse_hold(text)
  local hold, lost, tokens, tpm, at = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+)')
  return tonumber(hold), tonumber(lost), tonumber(tokens), tonumber(tpm), tonumber(at)
end

-- Books `cost` and releases `hold` (and `open` concurrency places) in the periods of the admission.
local function book_spend(project, key, at, cost, hold, open)
  local month = month_of(at)
  local s, h = 's' .. month, 'h' .. month
  add_to_hash(project, { s, cost, h, -hold })
  add_to_hash(key, { 's', cost, 'h', -hold, s, cost, h, -hold, 'c', -open })
end

-- Exact-cache entries of a shard: values, facts for purging, order of age, order of expiry, totals.
-- c = {values, facts, by_age, by_expiry, totals}; a fact is "expires size stored project\tprovider\tmodel".
local function cache_drop(c, key)
  local fact = redis.call('HGET', c[2], key)
  if not fact then return nil end
  local expires, size, project = string.match(fact, '^(%d+) (%d+) %d+ ([^\t]*)')
  redis.call('HDEL', c[1], key)
  redis.call('HDEL', c[2], key)
  redis.call('ZREM', c[3], key)
  redis.call('ZREM', c[4], key)
  redis.call('HINCRBY', c[5], 'b', -size)
  return tonumber(expires), project
end

local function cache_sweep(c, now, most)
  local old = redis.call('ZRANGEBYSCORE', c[4], '-inf', now, 'LIMIT', 0, most)
  for i = 1, #old do cache_drop(c, old[i]) end
  return #old
end

-- Remembers that a still valid entry left, so that the warm tier is worth asking until it would have expired.
local function cache_lost(c, project, expires)
  local known = tonumber(redis.call('HGET', c[5], 'i:' .. project)) or 0
  if expires > known then redis.call('HSET', c[5], 'i:' .. project, expires) end
end

local function cache_evict(c, now, max)
  cache_sweep(c, now, 64)
  for _ = 1, 256 do
    if tonumber(redis.call('HGET', c[5], 'b')) <= max then return end
    local oldest = redis.call('ZRANGE', c[3], 0, 0)[1]
    local expires, project = cache_drop(c, oldest)
    if expires > now then cache_lost(c, project, expires) end
  end
end

-- Entries {key, value, ttl, owner}; of several with one key the last stays.
local function cache_put_all(c, now, entries, max)
  local keys, last = {}, {}
  for i = 1, #entries do
    if not last[entries[i][1]] then keys[#keys + 1] = entries[i][1] end
    last[entries[i][1]] = entries[i]
  end
  local known = redis.call('HMGET', c[2], unpack(keys))
  for i = 1, #keys do
    if known[i] then cache_drop(c, keys[i]) end
  end
  cache_sweep(c, now, 4 * #keys)
  local values, facts, ages, ends, kept, bytes = {}, {}, {}, {}, {}, 0
  for i = 1, #keys do
    local key, value, ttl, owner = unpack(last[keys[i]])
    local expires, size = now + ttl, #value + #key + 256
    if size > max then
      cache_lost(c, string.match(owner, '^[^\t]*'), expires)
    else
      local at, n = whole(expires), 2 * #kept
      values[n + 1], values[n + 2] = key, at .. ' ' .. whole(now) .. ' ' .. value
      facts[n + 1], facts[n + 2] = key, at .. ' ' .. size .. ' ' .. whole(now) .. ' ' .. owner
      ages[n + 2], ends[n + 1], ends[n + 2] = key, at, key
      kept[#kept + 1] = key
      bytes = bytes + size
    end
  end
  if #kept == 0 then return end
  local newest = redis.call('HINCRBY', c[5], 'n', #kept)
  for i = 1, #kept do ages[2 * i - 1] = newest - #kept + i end
  redis.call('HSET', c[1], unpack(values))
  redis.call('HSET', c[2], unpack(facts))
  redis.call('ZADD', c[3], unpack(ages))
  redis.call('ZADD', c[4], unpack(ends))
  if redis.call('HINCRBY', c[5], 'b', bytes) <= max then return end
  cache_evict(c, now, max)
  for i = 1, #kept do
    if tonumber(redis.call('HGET', c[5], 'b')) <= max then return end
    local expires, project = cache_drop(c, kept[i])
    if expires then cache_lost(c, project, expires) end
  end
end

local function cache_put(c, now, key, value, ttl, owner, max)
  cache_put_all(c, now, { { key, value, ttl, owner } }, max)
end

-- The ends of requests of one turn, as far as nothing is unclear: holds released, costs booked, records queued, answers
-- cached. A row whose hold is not there, or that cannot be read, changes nothing: `settle` decides it by itself.
-- KEYS 1 epoch, 2 log, 3 holds, 4 leases, 5 marker of this commit, 6 cache values, 7 facts, 8 by age, 9 by expiry,
--      10 totals, then per account: project, key, customer
-- ARGV 1 epoch, 2 clock, 3 cache's byte bound, 4 accounts, then per account: customer id or '', then per row:
--      account, mode (held; unheld: only a record, at no cost), request id, cost, tokens, record, cache key or '', and with
--      one: value, ttl, owner
-- Reply: 0 (another epoch), or per row: entry id, or 2 = unclear.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local ROW = 7
local first = 5 + tonumber(ARGV[4])

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
  local stored = redis.call('HMGET', KEYS[3], unpack(held))
  for i = 1, #held do holds[held[i]] = stored[i] end
end

-- What each hash gains, in the order it was first met.
local sums, order = {}, {}
local function add(key, field, amount)
  local s = sums[key]
  if not s then
    s = { fields = {}, amounts = {} }
    sums[key] = s
    order[#order + 1] = key
  end
  local known = s.amounts[field]
  if not known then s.fields[#s.fields + 1] = field end
  s.amounts[field] = (known or 0) + amount
end

local tokens_of = {}
-- True where the row is clear: then all its sums are taken, else none.
local function book(row)
  local k, cost, customer = 11 + tonumber(ARGV[row]) * 3, tonumber(ARGV[row + 3]), ARGV[5 + tonumber(ARGV[row])]
  if ARGV[row + 1] ~= 'held' then return cost == 0 end
  local text = holds[ARGV[row + 2]]
  if not text or cost % 1 ~= 0 then return false end
  local hold, _, tokens, tpm, booked_at = parse_hold(text)
  local month, day = month_of(booked_at), day_of(booked_at)
  local given_back = tokens - tonumber(ARGV[row + 4])

  holds[ARGV[row + 2]] = nil
  if tpm > 0 then
    tokens_of[k] = tokens_of[k] or { tpm = tpm }
    table.insert(tokens_of[k], given_back)
  end
  local s, h = 's' .. month, 'h' .. month
  add(KEYS[k], s, cost)
  add(KEYS[k], h, -hold)
  add(KEYS[k + 1], 's', cost)
  add(KEYS[k + 1], 'h', -hold)
  add(KEYS[k + 1], s, cost)
  add(KEYS[k + 1], h, -hold)
  add(KEYS[k + 1], 'c', -1)
  if customer ~= '' then
    add(KEYS[k + 2], 'sd' .. day, cost)
    add(KEYS[k + 2], 'hd' .. day, -hold)
    add(KEYS[k + 2], s, cost)
    add(KEYS[k + 2], h, -hold)
  end
  return true
end

local replies, released, entries, unclear, last, is_marked = {}, {}, {}, '', nil, false
for i = 1, n do
  local row = starts[i]
  local could, is_clear = pcall(book, row)
  if could and is_clear then
    last = redis.call('XADD', KEYS[2], '*', 'i', ARGV[row + 2], 'r', ARGV[row + 5])
    replies[i] = last
    local is_held = ARGV[row + 1] == 'held'
    if is_held then released[#released + 1] = ARGV[row + 2] end
    is_marked = is_marked or is_held
    if ARGV[row + 6] ~= '' then
      entries[#entries + 1] = { ARGV[row + 6], ARGV[row + 7], tonumber(ARGV[row + 8]), ARGV[row + 9] }
    end
  else
    replies[i] = 2
    unclear = unclear .. ARGV[row + 2] .. '\n'
  end
end

for i = 1, #order do
  local s, changes = sums[order[i]], {}
  for f = 1, #s.fields do
    changes[2 * f - 1], changes[2 * f] = s.fields[f], s.amounts[s.fields[f]]
  end
  add_to_hash(order[i], changes)
end
if #released > 0 then
  redis.call('HDEL', KEYS[3], unpack(released))
  redis.call('ZREM', KEYS[4], unpack(released))
end
if is_marked then redis.call('SET', KEYS[5], 's' .. last .. '\n' .. unclear, 'PX', DONE_MARKER_MS) end

local now
local function clock()
  -- The new entry's id tells the time as TIME would, for nothing.
  now = now or (ARGV[2] == '' and tonumber(string.match(last, '^%d+'))) or read_clock(ARGV[2])
  return now
end
for k, T in pairs(tokens_of) do
  -- By the limit of now: the hold's may have been changed meanwhile.
  local v = redis.call('HMGET', KEYS[k + 1], 'tl', 'tt', 'tb')
  local tpm = tonumber(v[3]) or T.tpm
  local level = bucket_level(v[1], v[2], clock(), tpm, tpm)
  for i = 1, #T do level = bucket_adjust(level, T[i], tpm) end
  redis.call('HSET', KEYS[k + 1], 'tl', level, 'tt', clock())
end
if #entries > 0 then
  -- What cannot be cached is no reason to book less.
  pcall(cache_put_all, { KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10] }, clock(), entries, tonumber(ARGV[3]))
end
return replies
