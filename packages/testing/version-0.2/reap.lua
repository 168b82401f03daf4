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

-- A customer's limits (one packed text, written by customer-limits.ts), request windows and spend.
local HOUR_MS = 3600000
local CUSTOMER_SECONDS = 6048000

local function parse_limits(text)
  local daily, monthly, each, rpm, rph, rpd, mode, model =
    string.match(text, '^(%d*) (%d*) (%d*) (%d*) (%d*) (%d*) (%a+) ([^\n]*)')
  return {
    daily = tonumber(daily), monthly = tonumber(monthly), each = tonumber(each),
    rpm = tonumber(rpm), rph = tonumber(rph), rpd = tonumber(rpd), mode = mode, model = model, text = text,
  }
end

local function model_limit(limits, model)
  local _, at = string.find(limits.text, '\n' .. model .. '\t', 1, true)
  return at and tonumber(string.match(limits.text, '^%d+', at + 1))
end

-- Fixed UTC windows as window × 1e9 + count; a small step back of the clock keeps counting in the later window.
local function read_window(stored, now, length)
  local current = math.floor(now / length)
  stored = tonumber(stored)
  if not stored then return current, 0 end
  local window = math.floor(stored / 1e9)
  if window == current or window == current + 1 then return window, stored - window * 1e9 end
  return current, 0
end

-- Days and months that are over leave the hash; it goes by itself when the customer stays away for 70 days.
local function open_customer_day(key, day, month)
  local fields = {}
  for old = day - 15, day - 8 do
    fields[#fields + 1] = 'sd' .. old
    fields[#fields + 1] = 'hd' .. old
  end
  redis.call('HDEL', key, unpack(fields))
  prune_months(key, month)
  redis.call('EXPIRE', key, CUSTOMER_SECONDS)
end

local function book_customer(key, at, cost, hold)
  local day, month = day_of(at), month_of(at)
  add_to_hash(key, { 'sd' .. day, cost, 'hd' .. day, -hold, 's' .. month, cost, 'h' .. month, -hold })
end

-- Books a hold whose lease ran out, and queues the row of the lost request. Its late settlement may correct it once.
-- KEYS 1 epoch, 2 project, 3 key, 4 log, 5 holds, 6 leases, 7 customer, 8 done marker
-- ARGV 1 epoch, 2 clock, 3 request, 4 customer id or '', 5 record
-- Reply: 1 reaped, 0 not (any more) to be reaped.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local lease = tonumber(redis.call('ZSCORE', KEYS[6], ARGV[3]))
local stored = redis.call('HGET', KEYS[5], ARGV[3])
if not stored or (lease and lease > read_clock(ARGV[2])) then return 0 end
local hold, lost, _, _, at = parse_hold(stored)
book_spend(KEYS[2], KEYS[3], at, lost, hold, 1)
if ARGV[4] ~= '' then book_customer(KEYS[7], at, lost, hold) end
redis.call('HDEL', KEYS[5], ARGV[3])
redis.call('ZREM', KEYS[6], ARGV[3])
redis.call('SET', KEYS[8], 'r' .. whole(lost) .. ' ' .. whole(at), 'PX', REAPED_MARKER_MS)
redis.call('XADD', KEYS[4], '*', 'i', ARGV[3], 'r', ARGV[5])
return 1
