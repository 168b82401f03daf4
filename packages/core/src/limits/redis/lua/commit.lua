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
