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

-- What the admissions of a turn read once and write once; admit.lua, which follows, tells keys and arguments.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local now = read_clock(ARGV[3])
local is_stale = (redis.call('GET', KEYS[2]) or '') ~= ARGV[2]
local month, day = month_of(now), day_of(now)
local sm, hm, nm, sd, hd = 's' .. month, 'h' .. month, 'n' .. month, 'sd' .. day, 'hd' .. day
local queue_left = tonumber(ARGV[4]) - redis.call('XLEN', KEYS[3])
local ACCOUNT, PLAN, FIRST = 15, 6, 6
local projects, keys, customers, limits_of, lost_until = {}, {}, {}, {}, {}
local holds, leases = {}, {}

local function load_project(name)
  local P = projects[name]
  if not P then
    local v = redis.call('HMGET', name, 'p', sm, hm, nm)
    P = {
      version = tonumber(v[1]), spent = v[2], held = v[3], customers = tonumber(v[4]) or 0, is_new = not v[3], changes = {},
    }
    projects[name] = P
  end
  return P
end

local function load_key(name)
  local K = keys[name]
  if not K then
    local v = redis.call('HMGET', name, 'bl', 'bt', 'tl', 'tt', 'c', 's', 'h', sm, hm, 'bb', 'tb')
    K = {
      bl = v[1], bt = v[2], tl = v[3], tt = v[4], open = tonumber(v[5]) or 0, s = v[6], h = v[7], sm = v[8], hm = v[9],
      bb = v[10], tb = v[11], is_new = not v[9], changes = {},
    }
    keys[name] = K
  end
  return K
end

local function load_customer(name)
  local C = customers[name]
  if not C then
    local v = redis.call('HMGET', name, 'bl', 'bt', 'wh', 'wd', sd, hd, sm, hm, 'bb', 'n')
    C = {
      bl = v[1], bt = v[2], wh = v[3], wd = v[4], sd = v[5], hd = v[6], sm = v[7], hm = v[8], bb = v[9], was_open = v[6],
      counted = tonumber(v[10]), models = {}, changes = {},
    }
    customers[name] = C
  end
  return C
end

local function load_limits(name, id)
  local field = name .. '\n' .. id
  local limits = limits_of[field]
  if limits == nil then
    local text = redis.call('HGET', name, id)
    limits = text and parse_limits(text) or false
    limits_of[field] = limits
  end
  return limits or nil
end

-- Until when lost entries make the warm tier worth asking, for a project.
local function cache_lost_until(project)
  local until_ = lost_until[project]
  if not until_ then
    local v = redis.call('HMGET', KEYS[8], 'i:' .. project, 'i*')
    until_ = math.max(tonumber(v[1]) or 0, tonumber(v[2]) or 0)
    lost_until[project] = until_
  end
  return until_
end

local function is_known(P, project_name, a)
  local given_project, given_key = tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
  local field = 'k:' .. ARGV[a + 1]
  if P[field] == nil then P[field] = tonumber(redis.call('HGET', project_name, field)) or false end
  local known_project, known_key = P.version, P[field] or nil
  if known_project == given_project and known_key == given_key then return true end
  if ARGV[a + 4] ~= '1' or (known_project or 0) > given_project or (known_key or 0) > given_key then return false end
  redis.call('HSET', project_name, 'p', given_project, field, given_key)
  redis.call('SADD', KEYS[6], ARGV[a])
  P.version, P[field] = given_project, given_key
  return true
end

local function write_key(name, K)
  local fields, n = {}, 0
  if K.changes.bucket then
    fields, n = { 'bl', K.bl, 'bt', K.bt, 'bb', K.bb }, 6
  end
  if K.changes.tokens then
    fields[n + 1], fields[n + 2] = 'tt', K.tt
    n = n + 2
    if K.tl then
      fields[n + 1], fields[n + 2] = 'tl', K.tl
      n = n + 2
    end
    if K.tb then
      fields[n + 1], fields[n + 2] = 'tb', K.tb
      n = n + 2
    end
  end
  if K.changes.hold then
    fields[n + 1], fields[n + 2], fields[n + 3], fields[n + 4], fields[n + 5], fields[n + 6] = 'c', K.open, 'h', K.h, hm, K.hm
    n = n + 6
  end
  if n > 0 then redis.call('HSET', name, unpack(fields)) end
  if K.changes.hold and K.is_new then prune_months(name, month) end
end

local function write_customer(name, C)
  local fields, n = {}, 0
  if C.changes.windows then
    fields, n = { 'wh', C.wh, 'wd', C.wd }, 4
  end
  if C.changes.bucket then
    fields[n + 1], fields[n + 2], fields[n + 3], fields[n + 4], fields[n + 5], fields[n + 6] = 'bl', C.bl, 'bt', C.bt, 'bb', C.bb
    n = n + 6
  end
  if C.changes.count then
    fields[n + 1], fields[n + 2] = 'n', month
    n = n + 2
  end
  for field, count in pairs(C.models) do
    fields[n + 1], fields[n + 2] = field, count
    n = n + 2
  end
  if C.changes.hold then
    fields[n + 1], fields[n + 2], fields[n + 3], fields[n + 4] = hd, C.hd, hm, C.hm
    n = n + 4
  end
  if n > 0 then redis.call('HSET', name, unpack(fields)) end
end

local function write_tables()
  for name, K in pairs(keys) do write_key(name, K) end
  for name, P in pairs(projects) do
    if P.changes.count then redis.call('HSET', name, nm, P.customers) end
    if P.changes.hold then
      redis.call('HSET', name, hm, P.held)
      if P.is_new then
        prune_months(name, month)
        redis.call('SADD', KEYS[6], P.id)
      end
    end
  end
  for name, C in pairs(customers) do
    write_customer(name, C)
    if C.changes.windows and not C.was_open then open_customer_day(name, day, month) end
  end
  if #holds > 0 then
    redis.call('HSET', KEYS[4], unpack(holds))
    redis.call('ZADD', KEYS[5], unpack(leases))
  end
end

-- Admission of all requests of one turn, one after another: each is checked first, and only then takes what it needs from
-- the tables below; they are written at the end. A denial charges nothing, and a row that cannot be decided fails alone.
-- KEYS 1 epoch, 2 version of the tables, 3 log, 4 holds, 5 leases, 6 projects, 7 cache values, 8 cache totals, then per
--      account: project, key, customer, customer limits
-- ARGV 1 epoch, 2 version of the tables, 3 clock, 4 queue bound, 5 accounts, then per account (ACCOUNT fields): project id,
--      key id, project version, key version, reloaded, rate, burst, project cap, key budget, its period, tokens per
--      minute, concurrency, customer id or '', owner line, most customers; then per request: account, request id, plans, and per plan
--      (PLAN fields): model, hold, lost, tokens, cache key, lost record
-- Reply: 0 (another epoch), or {now, row, …}; a row: {code, bucket level, project spent, a, b, c, customer day, customer
--      month, daily limit, monthly limit}, as far as there is something to say, or the text of what went wrong.
local IS_ANSWERED = '9007199254740991 0 '

-- One request: `at` its first argument.
local function decide(at)
  local account = tonumber(ARGV[at])
  local a, k = FIRST + account * ACCOUNT, 9 + account * 4
  local REQUESTED, DOWNGRADE = at + 3, at + 3 + PLAN
  if ARGV[at + 2] ~= '2' then DOWNGRADE = nil end
  local P = load_project(KEYS[k])
  if not is_known(P, KEYS[k], a) then return { 1 } end

  local K = load_key(KEYS[k + 1])
  local rate, burst, level = tonumber(ARGV[a + 5]), tonumber(ARGV[a + 6]), nil
  if rate then level = bucket_level(K.bl, K.bt, now, rate, burst, K.bb) end

  local customer, limits, C = ARGV[a + 12], nil, nil
  local customer_level, hour, hour_count, window_day, day_count
  local is_new = false
  if customer ~= '' then
    limits = load_limits(KEYS[k + 3], customer)
    C = load_customer(KEYS[k + 2])
    is_new = not limits and C.counted ~= month
    if limits and limits.rpm then customer_level = bucket_level(C.bl, C.bt, now, limits.rpm, limits.rpm, C.bb) end
    hour, hour_count = read_window(C.wh, now, HOUR_MS)
    window_day, day_count = read_window(C.wd, now, DAY_MS)
  end

  local function reply(code, x, y, z)
    local row = { code, level and whole(level) or '', P.spent or 0, x or '', y or '', z or '' }
    if C then
      row[7], row[8] = C.sd or 0, C.sm or 0
      row[9] = limits and limits.daily and whole(limits.daily) or ''
      row[10] = limits and limits.monthly and whole(limits.monthly) or ''
    end
    return row
  end

  -- A clock that stepped back is stored even by a denial: otherwise the bucket would stand still until it catches up.
  local function deny(reason, wait)
    if level and K.bt and now < tonumber(K.bt) then
      K.bl, K.bt, K.bb = level, now, burst
      K.changes.bucket = true
    end
    if K.tt and now < tonumber(K.tt) then
      K.tt = now
      K.changes.tokens = true
    end
    if customer_level and C.bt and now < tonumber(C.bt) then
      C.bl, C.bt, C.bb = customer_level, now, limits.rpm
      C.changes.bucket = true
    end
    return reply(3, reason, wait or -1)
  end

  if queue_left <= 0 then return deny('queue_full') end
  if level and level < UNIT then return deny('key_rate', bucket_wait(level, UNIT, rate)) end

  local most_customers = tonumber(ARGV[a + 14])
  if is_new and most_customers and P.customers >= most_customers then return deny('customer_count') end

  local plan, warning, blocked = REQUESTED, 0, nil
  local model_field, model_count
  if limits then
    if customer_level and customer_level < UNIT then
      return deny('customer_rate', bucket_wait(customer_level, UNIT, limits.rpm))
    end
    if limits.rph and hour_count >= limits.rph then return deny('customer_rate', (hour + 1) * HOUR_MS - now) end
    if limits.rpd and day_count >= limits.rpd then return deny('customer_rate', (window_day + 1) * DAY_MS - now) end

    local wanted = tonumber(ARGV[REQUESTED + 1])
    local over = (over_limit(limits.daily, C.sd, C.hd, wanted) and 1)
      or (over_limit(limits.monthly, C.sm, C.hm, wanted) and 2)
      or 0
    if over > 0 then
      if limits.mode == 'warn' or (limits.mode == 'downgrade' and limits.model == ARGV[REQUESTED]) then
        warning = over
      elseif limits.mode == 'downgrade' and limits.model ~= '' then
        if not DOWNGRADE or ARGV[DOWNGRADE] ~= limits.model then return { 2, limits.model } end
        plan, warning = DOWNGRADE, over
      else
        blocked = over
      end
    end

    local most = model_limit(limits, ARGV[plan])
    if most then
      model_field = 'm:' .. ARGV[plan]
      local stored = C.models[model_field]
      if stored == nil then stored = redis.call('HGET', KEYS[k + 2], model_field) end
      local window, count = read_window(stored, now, DAY_MS)
      if count >= most then return deny('customer_model_rate', (window + 1) * DAY_MS - now) end
      model_count = window * 1e9 + count + 1
    end
  end

  local function take_request()
    if level then
      K.bl, K.bt, K.bb = level - UNIT, now, burst
      K.changes.bucket = true
    end
    if C then
      C.wh, C.wd = hour * 1e9 + hour_count + 1, window_day * 1e9 + day_count + 1
      C.changes.windows = true
      if customer_level then
        C.bl, C.bt, C.bb = customer_level - UNIT, now, limits.rpm
        C.changes.bucket = true
      end
      if model_field then C.models[model_field] = model_count end
      if is_new then
        C.counted, P.customers = month, P.customers + 1
        C.changes.count, P.changes.count = true, true
      end
    end
  end

  local cache_key = ARGV[plan + 4]
  if cache_key ~= '' then
    -- '+': the process has the answer itself.
    local entry = cache_key == '+' and IS_ANSWERED or redis.call('HGET', KEYS[7], cache_key)
    if entry and tonumber(string.match(entry, '^%d+')) > now then
      take_request()
      if level then level = level - UNIT end
      return reply(4, (plan - REQUESTED) / PLAN, entry)
    end
  end

  local hold, tokens = tonumber(ARGV[plan + 1]), tonumber(ARGV[plan + 3])
  if limits and limits.each and hold > limits.each then return deny('per_request_max') end
  local tpm, tpm_level = tonumber(ARGV[a + 10]), nil
  if tpm and tokens > tpm then return deny('tokens_over_limit') end
  local most_open = tonumber(ARGV[a + 11])
  if most_open and K.open >= most_open then return deny('concurrency') end
  if tpm then
    tpm_level = bucket_level(K.tl, K.tt, now, tpm, tpm, K.tb)
    local need = tokens * UNIT
    if tpm_level < need then return deny('tokens_rate', bucket_wait(tpm_level, need, tpm)) end
    tpm_level = tpm_level - need
  end
  if over_limit(tonumber(ARGV[a + 7]), P.spent, P.held, hold) then return deny('project_cap') end
  local budget = tonumber(ARGV[a + 8])
  if budget then
    local total = ARGV[a + 9] == 'total'
    if over_limit(budget, total and K.s or K.sm, total and K.h or K.hm, hold) then return deny('key_budget') end
  end
  if blocked then return deny(blocked == 1 and 'customer_daily_spend' or 'customer_monthly_spend') end
  local incomplete = cache_key ~= '' and cache_lost_until(ARGV[a]) > now and 1 or 0
  local n = #holds
  local text = ARGV[plan + 1] .. ' ' .. ARGV[plan + 2] .. ' ' .. ARGV[plan + 3] .. ' ' .. (tpm and ARGV[a + 10] or '0') .. ' '
    .. whole(now) .. '\n' .. ARGV[a + 13] .. '\n' .. ARGV[plan + 5]

  -- Nothing below can fail.
  holds[n + 1], holds[n + 2] = ARGV[at + 1], text
  leases[n + 1], leases[n + 2] = now + LEASE_MS, ARGV[at + 1]
  take_request()
  if level then level = level - UNIT end
  if tpm then
    K.tl, K.tt, K.tb = tpm_level, now, tpm
    K.changes.tokens = true
  end
  K.open, K.h, K.hm = K.open + 1, (tonumber(K.h) or 0) + hold, (tonumber(K.hm) or 0) + hold
  K.changes.hold = true
  P.held, P.id = (tonumber(P.held) or 0) + hold, ARGV[a]
  P.changes.hold = true
  if C then
    C.hd, C.hm = (tonumber(C.hd) or 0) + hold, (tonumber(C.hm) or 0) + hold
    C.changes.hold = true
  end
  return reply(5, (plan - REQUESTED) / PLAN, warning, incomplete)
end

local rows, at, n = { now }, FIRST + tonumber(ARGV[5]) * ACCOUNT, 1
while ARGV[at] do
  n = n + 1
  if is_stale then
    rows[n] = { 6 }
  else
    local is_decided, row = pcall(decide, at)
    rows[n] = is_decided and row or tostring(type(row) == 'table' and row.err or row)
  end
  at = at + 3 + tonumber(ARGV[at + 2]) * PLAN
end
write_tables()
return rows
