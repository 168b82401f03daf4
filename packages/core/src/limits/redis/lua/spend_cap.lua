-- Integer nano-USD against a limit: sums are kept by HINCRBY in 64 bits, compared as Lua numbers (exact below 2^53).
local function over_limit(limit, spent, held, hold)
  return limit ~= nil and (tonumber(spent) or 0) + (tonumber(held) or 0) + hold > limit
end

-- Writes `known` values of fields with their deltas added. Sums beyond 2^53 are not exact in Lua; Redis adds those itself.
local function write_sums(key, fields, deltas, known)
  local sums, n = {}, #fields
  for i = 1, n do
    local sum = (tonumber(known[i]) or 0) + deltas[i]
    if sum >= 9007199254740992 or sum <= -9007199254740992 then
      for j = 1, n do call('HINCRBY', key, fields[j], whole(deltas[j])) end
      return
    end
    sums[2 * i - 1], sums[2 * i] = fields[i], whole(sum)
  end
  call('HSET', key, unpack(sums))
end

-- Adds whole numbers to hash fields: `changes` is {field, delta, field, delta, …}. More than two take two commands.
local function add_to_hash(key, changes)
  local fields, deltas, n = {}, {}, 0
  for i = 1, #changes, 2 do
    if changes[i + 1] ~= 0 then
      n = n + 1
      fields[n], deltas[n] = changes[i], changes[i + 1]
    end
  end
  if n > 2 then return write_sums(key, fields, deltas, call('HMGET', key, unpack(fields))) end
  for i = 1, n do call('HINCRBY', key, fields[i], whole(deltas[i])) end
end

-- Months older than the kept ones leave a hash when it enters a new month.
local function prune_months(key, month)
  local fields = {}
  for old = month - 15, month - 4 do
    fields[#fields + 1] = 's' .. old
    fields[#fields + 1] = 'h' .. old
    fields[#fields + 1] = 'n' .. old
  end
  call('HDEL', key, unpack(fields))
end

-- Splits a stored hold: hold, lost, tokens, tokens per minute (0 = none), time of admission, and '' or the counters of its
-- budgets, each after a space.
local function parse_hold(text)
  local hold, lost, tokens, tpm, at, counters = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+)([^\n]*)')
  return tonumber(hold), tonumber(lost), tonumber(tokens), tonumber(tpm), tonumber(at), counters
end

-- Books `cost` and releases `hold` (and `open` concurrency places) in the periods of the admission.
local function book_spend(project, key, at, cost, hold, open)
  local month = whole(month_of(at))
  local s, h = 's' .. month, 'h' .. month
  add_to_hash(project, { s, cost, h, -hold })
  add_to_hash(key, { 's', cost, 'h', -hold, s, cost, h, -hold, 'c', -open })
end
