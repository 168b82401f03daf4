-- Integer nano-USD against a limit: sums are kept by HINCRBY in 64 bits, compared as Lua numbers (exact below 2^53).
local function over_limit(limit, spent, held, hold)
  return limit ~= nil and (tonumber(spent) or 0) + (tonumber(held) or 0) + hold > limit
end

-- Adds whole numbers to hash fields: `changes` is {field, delta, field, delta, …}.
local function add_to_hash(key, changes)
  for i = 1, #changes, 2 do
    local delta = changes[i + 1]
    if delta ~= 0 then redis.call('HINCRBY', key, changes[i], delta) end
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
