-- One admission decision: everything is checked first, only then anything is written; a denial charges nothing.
-- KEYS 1 epoch, 2 project, 3 key, 4 log, 5 holds, 6 leases, 7 customer, 8 customer limits, 9 cache values,
--      10 cache totals, 11 projects, 12 version of the tables
-- ARGV 1 epoch, 2 clock, 3 request, 4 project id, 5 key id, 6 key version, 7 project version, 8 reloaded, 9 rate,
--      10 burst, 11 queue bound, 12 project cap, 13 key budget, 14 its period, 15 tokens per minute, 16 concurrency,
--      17 customer id or '', 18 owner line, 19 version of the tables, 20 most customers, then per plan (21.., 27..): model, hold, lost, tokens, cache key, lost record
-- Reply: {code, now, bucket level, project spent, customer day, customer month, daily limit, monthly limit, …}
local now = read_clock(ARGV[2])
local REQUESTED, DOWNGRADE = 21, 27
local head = redis.call('MGET', KEYS[1], KEYS[12])
if head[1] ~= ARGV[1] then return { 0, now } end
if (head[2] or '') ~= ARGV[19] then return { 6, now } end

local month, day = month_of(now), day_of(now)
local sm, hm, nm = 's' .. month, 'h' .. month, 'n' .. month
local key_version = 'k:' .. ARGV[5]
local P = redis.call('HMGET', KEYS[2], 'p', key_version, sm, hm, nm)
local known_project, known_key = tonumber(P[1]), tonumber(P[2])
local given_project, given_key = tonumber(ARGV[7]), tonumber(ARGV[6])
if known_project ~= given_project or known_key ~= given_key then
  if ARGV[8] ~= '1' or (known_project or 0) > given_project or (known_key or 0) > given_key then return { 1, now } end
  redis.call('HSET', KEYS[2], 'p', given_project, key_version, given_key)
  redis.call('SADD', KEYS[11], ARGV[4])
end

local K = redis.call('HMGET', KEYS[3], 'bl', 'bt', 'tl', 'tt', 'c', 's', 'h', sm, hm, 'bb', 'tb')
local rate, burst, level = tonumber(ARGV[9]), tonumber(ARGV[10]), nil
if rate then level = bucket_level(K[1], K[2], now, rate, burst, K[10]) end

local has_customer, limits, C, sd, hd = ARGV[17] ~= '', nil, nil, nil, nil
local customer_level, hour, hour_count, window_day, day_count
local is_new = false
if has_customer then
  sd, hd = 'sd' .. day, 'hd' .. day
  local text = redis.call('HGET', KEYS[8], ARGV[17])
  if text then limits = parse_limits(text) end
  C = redis.call('HMGET', KEYS[7], 'bl', 'bt', 'wh', 'wd', sd, hd, sm, hm, 'bb', 'n')
  is_new = not limits and tonumber(C[10]) ~= month
  if limits and limits.rpm then customer_level = bucket_level(C[1], C[2], now, limits.rpm, limits.rpm, C[9]) end
  hour, hour_count = read_window(C[3], now, HOUR_MS)
  window_day, day_count = read_window(C[4], now, DAY_MS)
end

local function reply(code, a, b, c)
  return {
    code, now, level and whole(level) or '', P[3] or 0, C and C[5] or 0, C and C[7] or 0,
    limits and limits.daily and whole(limits.daily) or '', limits and limits.monthly and whole(limits.monthly) or '',
    a, b, c,
  }
end

-- A clock that stepped back is stored even by a denial: otherwise the bucket would stand still until it catches up.
local function deny(reason, wait)
  if level and K[2] and now < tonumber(K[2]) then redis.call('HSET', KEYS[3], 'bl', level, 'bt', now, 'bb', burst) end
  if K[4] and now < tonumber(K[4]) then redis.call('HSET', KEYS[3], 'tt', now) end
  if customer_level and C[2] and now < tonumber(C[2]) then
    redis.call('HSET', KEYS[7], 'bl', customer_level, 'bt', now, 'bb', limits.rpm)
  end
  return reply(3, reason, wait or -1)
end

if redis.call('XLEN', KEYS[4]) >= tonumber(ARGV[11]) then return deny('queue_full') end
if level and level < UNIT then return deny('key_rate', bucket_wait(level, UNIT, rate)) end

local customers, most_customers = tonumber(P[5]) or 0, tonumber(ARGV[20])
if is_new and most_customers and customers >= most_customers then return deny('customer_count') end

local plan, warning, blocked = REQUESTED, 0, nil
local model_field, model_count
if limits then
  if customer_level and customer_level < UNIT then
    return deny('customer_rate', bucket_wait(customer_level, UNIT, limits.rpm))
  end
  if limits.rph and hour_count >= limits.rph then return deny('customer_rate', (hour + 1) * HOUR_MS - now) end
  if limits.rpd and day_count >= limits.rpd then return deny('customer_rate', (window_day + 1) * DAY_MS - now) end

  local wanted = tonumber(ARGV[REQUESTED + 1])
  local over = (over_limit(limits.daily, C[5], C[6], wanted) and 1)
    or (over_limit(limits.monthly, C[7], C[8], wanted) and 2)
    or 0
  if over > 0 then
    if limits.mode == 'warn' or (limits.mode == 'downgrade' and limits.model == ARGV[REQUESTED]) then
      warning = over
    elseif limits.mode == 'downgrade' and limits.model ~= '' then
      if ARGV[DOWNGRADE] ~= limits.model then return { 2, now, limits.model } end
      plan, warning = DOWNGRADE, over
    else
      blocked = over
    end
  end

  local most = model_limit(limits, ARGV[plan])
  if most then
    model_field = 'm:' .. ARGV[plan]
    local window, count = read_window(redis.call('HGET', KEYS[7], model_field), now, DAY_MS)
    if count >= most then return deny('customer_model_rate', (window + 1) * DAY_MS - now) end
    model_count = window * 1e9 + count + 1
  end
end

local key_fields, customer_fields = {}, {}
if level then
  level = level - UNIT
  key_fields = { 'bl', level, 'bt', now, 'bb', burst }
end
if has_customer then
  customer_fields = { 'wh', hour * 1e9 + hour_count + 1, 'wd', window_day * 1e9 + day_count + 1 }
  local n = 4
  if customer_level then
    customer_fields = { 'bl', customer_level - UNIT, 'bt', now, 'bb', limits.rpm, unpack(customer_fields) }
    n = 10
  end
  if model_field then customer_fields[n + 1], customer_fields[n + 2] = model_field, model_count end
  if is_new then
    n = #customer_fields
    customer_fields[n + 1], customer_fields[n + 2] = 'n', month
  end
end

local function write_request_buckets()
  if level then redis.call('HSET', KEYS[3], unpack(key_fields)) end
  if has_customer then
    redis.call('HSET', KEYS[7], unpack(customer_fields))
    if not C[6] then open_customer_day(KEYS[7], day, month) end
    if is_new then redis.call('HSET', KEYS[2], nm, customers + 1) end
  end
end

local cache_key = ARGV[plan + 4]
if cache_key ~= '' then
  local entry = redis.call('HGET', KEYS[9], cache_key)
  if entry and tonumber(string.match(entry, '^%d+')) > now then
    write_request_buckets()
    return reply(4, plan, entry)
  end
end

-- Denials from here on leave the level as it was.
if level then level = level + UNIT end
local hold, tokens = tonumber(ARGV[plan + 1]), tonumber(ARGV[plan + 3])
if limits and limits.each and hold > limits.each then return deny('per_request_max') end
local tpm, tpm_level = tonumber(ARGV[15]), nil
if tpm and tokens > tpm then return deny('tokens_over_limit') end
local open = tonumber(K[5]) or 0
local most_open = tonumber(ARGV[16])
if most_open and open >= most_open then return deny('concurrency') end
if tpm then
  tpm_level = bucket_level(K[3], K[4], now, tpm, tpm, K[11])
  local need = tokens * UNIT
  if tpm_level < need then return deny('tokens_rate', bucket_wait(tpm_level, need, tpm)) end
  tpm_level = tpm_level - need
end
if over_limit(tonumber(ARGV[12]), P[3], P[4], hold) then return deny('project_cap') end
local budget = tonumber(ARGV[13])
if budget then
  local total = ARGV[14] == 'total'
  if over_limit(budget, total and K[6] or K[8], total and K[7] or K[9], hold) then return deny('key_budget') end
end
if blocked then return deny(blocked == 1 and 'customer_daily_spend' or 'customer_monthly_spend') end

if level then level = level - UNIT end
local n = #key_fields
key_fields[n + 1], key_fields[n + 2] = 'c', open + 1
key_fields[n + 3], key_fields[n + 4] = 'h', (tonumber(K[7]) or 0) + hold
key_fields[n + 5], key_fields[n + 6] = hm, (tonumber(K[9]) or 0) + hold
redis.call('HSET', KEYS[3], unpack(key_fields))
if tpm then redis.call('HSET', KEYS[3], 'tl', tpm_level, 'tt', now, 'tb', tpm) end
redis.call('HSET', KEYS[2], hm, (tonumber(P[4]) or 0) + hold)
if is_new then redis.call('HSET', KEYS[2], nm, customers + 1) end
if not K[9] then prune_months(KEYS[3], month) end
if not P[4] then
  prune_months(KEYS[2], month)
  redis.call('SADD', KEYS[11], ARGV[4])
end
if has_customer then
  n = #customer_fields
  customer_fields[n + 1], customer_fields[n + 2] = hd, (tonumber(C[6]) or 0) + hold
  customer_fields[n + 3], customer_fields[n + 4] = hm, (tonumber(C[8]) or 0) + hold
  redis.call('HSET', KEYS[7], unpack(customer_fields))
  if not C[6] then open_customer_day(KEYS[7], day, month) end
end
redis.call('HSET', KEYS[5], ARGV[3], ARGV[plan + 1] .. ' ' .. ARGV[plan + 2] .. ' ' .. ARGV[plan + 3] .. ' '
  .. (tpm and ARGV[15] or '0') .. ' ' .. whole(now) .. '\n' .. ARGV[18] .. '\n' .. ARGV[plan + 5])
redis.call('ZADD', KEYS[6], now + LEASE_MS, ARGV[3])

local incomplete = 0
if cache_key ~= '' then
  local until_ = redis.call('HMGET', KEYS[10], 'i:' .. ARGV[4], 'i*')
  if (tonumber(until_[1]) or 0) > now or (tonumber(until_[2]) or 0) > now then incomplete = 1 end
end
return reply(5, plan, warning, incomplete)
