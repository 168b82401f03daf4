-- Integer nano-USD against a limit. Lua's numbers are exact below 2^53; sums beyond are left to HINCRBY's 64 bits.
local EXACT = 4503599627370496

local function over_limit(limit, spent, held, hold)
  return limit ~= nil and (tonumber(spent) or 0) + (tonumber(held) or 0) + hold > limit
end

-- Adds to hash fields: `pairs_` is {field, delta, field, delta, …}. Two commands instead of one a field.
local function add_to_hash(key, pairs_)
  local names, n = {}, #pairs_
  for i = 1, n, 2 do names[#names + 1] = pairs_[i] end
  local values, exact = redis.call('HMGET', key, unpack(names)), true
  for i = 1, #names do
    local sum = (tonumber(values[i]) or 0) + pairs_[i * 2]
    if sum > EXACT or sum < -EXACT then exact = false end
    values[i] = sum
  end
  if exact then
    local args = {}
    for i = 1, #names do args[i * 2 - 1] = pairs_[i * 2 - 1]; args[i * 2] = values[i] end
    redis.call('HSET', key, unpack(args))
  else
    for i = 1, n, 2 do redis.call('HINCRBY', key, pairs_[i], whole(pairs_[i + 1] + 0)) end
  end
end

-- Months older than the kept ones leave a hash when it enters a new month.
local function prune_months(key, month)
  local fields = {}
  for old = month - 15, month - 4 do
    fields[#fields + 1] = 's' .. old
    fields[#fields + 1] = 'h' .. old
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
