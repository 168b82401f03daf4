-- Admission of all requests of one turn, one after another: each is checked first, and only then takes what it needs from
-- the tables below; they are written at the end. A denial charges nothing, and a row that cannot be decided fails alone.
-- KEYS 1 epoch, 2 version of the tables, 3 log, 4 holds, 5 leases, 6 projects, 7 cache values, 8 cache totals, then per
--      account: project, key, customer, customer limits
-- ARGV 1 epoch, 2 version of the tables, 3 clock, 4 queue bound, 5 accounts, then per account (ACCOUNT fields): project id,
--      key id, project version, key version, reloaded, rate, burst, project cap, key budget, its period, tokens per
--      minute, concurrency, customer id or '', owner line, most customers, budgets (id, limit and version of each) or '', levels
--      (id, requests and tokens a minute of each, '-' = any) or ''; then per request: account, request id, number of plans (and its budgets, where they differ), and per plan (PLAN
--      fields): model, hold, lost, tokens, cache key, lost record
-- Reply: 0 (another epoch), or {now, row, …}; a row: {code, bucket level, project spent, a, b, c, customer day, customer
--      month, daily limit, monthly limit}, as far as there is something to say; {8}: one of its budgets is not counted yet;
--      or the text of what went wrong.
local IS_ANSWERED = '9007199254740991 0 '

-- The request that is being decided. Not locals of `decide`: its functions would be made anew for each request.
local P, K, C, limits, levels, project_name, key_name
-- Entries of the cache by key, as far as they were looked up.
local asked, cached = {}, {}
local level, burst, customer_level, hour, hour_count, window_day, day_count, is_new, model_field, model_count

local function reply(code, x, y, z)
  local row = { code, level or '', P.spent or 0, x or '', y or '', z or '' }
  if C then
    row[7], row[8] = C.sd or 0, C.sm or 0
    row[9] = limits and limits.daily and whole(limits.daily) or ''
    row[10] = limits and limits.monthly and whole(limits.monthly) or ''
  end
  return row
end

-- A clock that stepped back is stored even by a denial: otherwise the bucket would stand still until it catches up.
-- What is spent, and what open requests hold.
local function sums_of(spent, held) return (spent or '0') .. ' ' .. whole(tonumber(held) or 0) end

local function deny(reason, wait, more)
  if level and K.bt and now < tonumber(K.bt) then
    K.bl, K.bt, K.bb, K.takes_bucket = level, now, burst, true
  end
  load_tokens(K, key_name)
  if K.tt and now < tonumber(K.tt) then K.tt, K.steps_back = now, true end
  if levels then levels_of_turn.step_back(levels) end
  if customer_level and C.bt and now < tonumber(C.bt) then
    C.bl, C.bt, C.bb, C.takes_bucket = customer_level, now, limits.rpm, true
  end
  return reply(3, reason, wait or -1, more)
end

local function take_request()
  if levels then levels_of_turn.take(levels, 'requests', UNIT) end
  if level then
    K.bl, K.bt, K.bb, K.takes_bucket = level - UNIT, now, burst, true
  end
  if C then
    C.wh, C.wd, C.takes_window = hour * 1e9 + hour_count + 1, window_day * 1e9 + day_count + 1, true
    if customer_level then
      C.bl, C.bt, C.bb, C.takes_bucket = customer_level - UNIT, now, limits.rpm, true
    end
    if model_field then C.models[model_field] = model_count end
    if is_new then
      P.customers, P.has_new_customers = count_customers(P, project_name) + 1, true
      C.counted, C.is_counted = month, true
    end
  end
end

-- `at` is its first argument.
local function decide(at)
  local account = tonumber(ARGV[at])
  local a, k = FIRST + account * ACCOUNT, 9 + account * 4
  local REQUESTED, DOWNGRADE = at + 3, at + 3 + PLAN
  local plans, named, budgets = ARGV[at + 2], ARGV[a + 15], nil
  if plans ~= '1' and plans ~= '2' then
    plans, named = string.sub(plans, 1, 1), string.sub(plans, 3)
  end
  if plans ~= '2' then DOWNGRADE = nil end
  local version = 'k:' .. ARGV[a + 1]
  project_name, key_name = KEYS[k], KEYS[k + 1]
  if named ~= '' then
    budgets_of_turn = budgets_of_turn or make_budgets(now, month)
    budgets = budgets_of_turn.find(named, project_name)
  end
  P = load_project(project_name, version)
  if not is_known(P, project_name, a, version) then return { 1 } end

  K = load_key(key_name)
  local rate = tonumber(ARGV[a + 5])
  burst, level = tonumber(ARGV[a + 6]), nil
  if rate then level = bucket_level(K.bl, K.bt, now, rate, burst, K.bb) end

  levels = nil
  if ARGV[a + 16] ~= '' then
    levels_of_turn = levels_of_turn or make_levels(now)
    levels = levels_of_turn.find(ARGV[a + 16])
  end

  local customer = ARGV[a + 12]
  limits, C, customer_level, is_new, model_field = nil, nil, nil, false, nil
  if customer ~= '' then
    limits = load_limits(KEYS[k + 3], customer)
    C = load_customer(KEYS[k + 2])
    is_new = not limits and C.counted ~= month
    if limits and limits.rpm then customer_level = bucket_level(C.bl, C.bt, now, limits.rpm, limits.rpm, C.bb) end
    hour, hour_count = read_window(C.wh, now, HOUR_MS)
    window_day, day_count = read_window(C.wd, now, DAY_MS)
  end

  if queue_left <= 0 then return deny('queue_full') end
  if level and level < UNIT then return deny('key_rate', bucket_wait(level, UNIT, rate)) end
  if levels then
    local used, wait = levels_of_turn.check(levels, 'requests', UNIT)
    if used then return deny('level_rate', wait, used) end
  end

  local most_customers = tonumber(ARGV[a + 14])
  if is_new and most_customers and count_customers(P, project_name) >= most_customers then return deny('customer_count') end

  local plan, warning, blocked = REQUESTED, 0, nil
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
      if stored == nil then stored = call('HGET', KEYS[k + 2], model_field) end
      local window, count = read_window(stored, now, DAY_MS)
      if count >= most then return deny('customer_model_rate', (window + 1) * DAY_MS - now) end
      model_count = window * 1e9 + count + 1
    end
  end

  local cache_key = ARGV[plan + 4]
  if cache_key ~= '' then
    -- '+': the process has the answer itself.
    local entry = cache_key == '+' and IS_ANSWERED or cached[cache_key]
    if entry == nil then entry = call('HGET', KEYS[7], cache_key) end
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
    load_tokens(K, key_name)
    tpm_level = bucket_level(K.tl, K.tt, now, tpm, tpm, K.tb)
    local need = tokens * UNIT
    if tpm_level < need then return deny('tokens_rate', bucket_wait(tpm_level, need, tpm)) end
    tpm_level = tpm_level - need
  end
  if levels then
    local used, wait = levels_of_turn.check(levels, 'tokens', tokens * UNIT)
    if used then return deny(wait and 'level_tokens_rate' or 'level_tokens_over_limit', wait, used) end
  end
  if over_limit(tonumber(ARGV[a + 7]), P.spent, P.held, hold) then return deny('project_cap', nil, sums_of(P.spent, P.held)) end
  local budget = tonumber(ARGV[a + 8])
  if budget then
    local total = ARGV[a + 9] == 'total'
    local field = total and 's' or sm
    if K[field] == nil then K[field] = call('HGET', key_name, field) end
    local held = total and K.h or K.hm
    if over_limit(budget, K[field], held, hold) then return deny('key_budget', nil, sums_of(K[field], held)) end
  end
  if budgets then
    local refused, spent = budgets_of_turn.check(budgets, hold, P, project_name, K, key_name)
    if refused == 0 then return { 8 } end
    if refused then return deny('budget', refused, spent) end
  end
  if blocked then return deny(blocked == 1 and 'customer_daily_spend' or 'customer_monthly_spend') end
  local incomplete = cache_key ~= '' and cache_lost_until(ARGV[a]) > now and 1 or 0
  local n = #holds
  local text = ARGV[plan + 1] .. ' ' .. ARGV[plan + 2] .. ' ' .. ARGV[plan + 3] .. ' ' .. (tpm and ARGV[a + 10] or '0') .. ' '
    .. NOW .. (budgets and budgets.counters or '') .. (levels and levels.names or '') .. '\n' .. ARGV[a + 13] .. '\n' .. ARGV[plan + 5]

  -- Nothing below can fail.
  holds[n + 1], holds[n + 2] = ARGV[at + 1], text
  leases[n + 1], leases[n + 2] = LEASE, ARGV[at + 1]
  take_request()
  if level then level = level - UNIT end
  if tpm then
    K.tl, K.tt, K.tb, K.takes_tokens = tpm_level, now, tpm, true
  end
  K.open, K.h, K.hm, K.takes_hold = K.open + 1, (tonumber(K.h) or 0) + hold, (tonumber(K.hm) or 0) + hold, true
  P.held, P.id, P.takes_hold = (tonumber(P.held) or 0) + hold, ARGV[a], true
  if budgets then budgets_of_turn.take(budgets, hold) end
  if levels then levels_of_turn.take(levels, 'tokens', tokens * UNIT) end
  if C then C.hd, C.hm, C.takes_hold = (tonumber(C.hd) or 0) + hold, (tonumber(C.hm) or 0) + hold, true end
  return reply(5, (plan - REQUESTED) / PLAN, warning, incomplete)
end

local begin = FIRST + tonumber(ARGV[5]) * ACCOUNT
local rows, at, n = { now }, begin, 1
-- Answers to the requested plans, looked up in one command.
while ARGV[at] do
  local key = ARGV[at + 7]
  if key ~= '' and key ~= '+' then asked[#asked + 1] = key end
  at = at + 3 + (string.byte(ARGV[at + 2]) - 48) * PLAN
end
if #asked > 1 and not is_stale then
  local found = call('HMGET', KEYS[7], unpack(asked))
  for i = 1, #asked do cached[asked[i]] = found[i] end
end
at = begin
while ARGV[at] do
  n = n + 1
  if is_stale then
    rows[n] = { 6 }
  else
    local is_decided, row = pcall(decide, at)
    rows[n] = is_decided and row or tostring(type(row) == 'table' and row.err or row)
  end
  at = at + 3 + (string.byte(ARGV[at + 2]) - 48) * PLAN
end
write_tables()
return rows
