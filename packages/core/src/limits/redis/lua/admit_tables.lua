-- What the admissions of a turn read once and write once; admit.lua, which follows, tells keys and arguments.
local versions = call('MGET', KEYS[1], KEYS[2])
if versions[1] ~= ARGV[1] then return 0 end
local now = read_clock(ARGV[3])
local is_stale = (versions[2] or '') ~= ARGV[2]
local month, day = month_of(now), day_of(now)
local NOW, MONTH, LEASE = whole(now), whole(month), whole(now + LEASE_MS)
local sm, hm = 's' .. MONTH, 'h' .. MONTH
local queue_left = tonumber(ARGV[4]) - call('XLEN', KEYS[3])
local ACCOUNT, PLAN, FIRST = 17, 6, 6
local projects, keys, customers, limits_of, lost_until = {}, {}, {}, {}, {}
local holds, leases = {}, {}

-- `version` names the field of the key's version.
local function load_project(name, version)
  local P = projects[name]
  if not P then
    local v = call('HMGET', name, 'p', sm, hm, version)
    P = { version = tonumber(v[1]), spent = v[2], held = v[3], is_new = not v[3], [version] = tonumber(v[4]) or false }
    projects[name] = P
  end
  return P
end

-- Customers of the month that the project has no limits for.
local function count_customers(P, name)
  if not P.customers then P.customers = tonumber(call('HGET', name, 'n' .. MONTH)) or 0 end
  return P.customers
end

local function load_key(name)
  local K = keys[name]
  if not K then
    local v = call('HMGET', name, 'c', 'h', hm, 'bl', 'bt', 'bb')
    K = { open = tonumber(v[1]) or 0, h = v[2], hm = v[3], bl = v[4], bt = v[5], bb = v[6], stored_burst = v[6], is_new = not v[3] }
    keys[name] = K
  end
  return K
end

local function load_tokens(K, name)
  if K.has_tokens then return end
  local v = call('HMGET', name, 'tl', 'tt', 'tb')
  K.tl, K.tt, K.tb, K.has_tokens = v[1], v[2], v[3], true
end

local function load_customer(name)
  local C = customers[name]
  if not C then
    local v = call('HMGET', name, 'bl', 'bt', 'wh', 'wd', 'sd' .. day, 'hd' .. day, sm, hm, 'bb', 'n')
    C = {
      bl = v[1], bt = v[2], wh = v[3], wd = v[4], sd = v[5], hd = v[6], sm = v[7], hm = v[8], bb = v[9],
      stored_burst = v[9], was_open = v[6], counted = tonumber(v[10]), models = {},
    }
    customers[name] = C
  end
  return C
end

local function load_limits(name, id)
  local field = name .. '\n' .. id
  local limits = limits_of[field]
  if limits == nil then
    local text = call('HGET', name, id)
    limits = text and parse_limits(text) or false
    limits_of[field] = limits
  end
  return limits or nil
end

-- Until when lost entries make the warm tier worth asking, for a project.
local function cache_lost_until(project)
  local until_ = lost_until[project]
  if not until_ then
    local v = call('HMGET', KEYS[8], 'i:' .. project, 'i*')
    until_ = math.max(tonumber(v[1]) or 0, tonumber(v[2]) or 0)
    lost_until[project] = until_
  end
  return until_
end

local function is_known(P, project_name, a, field)
  local given_project, given_key = tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
  if P[field] == nil then P[field] = tonumber(call('HGET', project_name, field)) or false end
  local known_project, known_key = P.version, P[field] or nil
  if known_project == given_project and known_key == given_key then return true end
  if ARGV[a + 4] ~= '1' or (known_project or 0) > given_project or (known_key or 0) > given_key then return false end
  call('HSET', project_name, 'p', given_project, field, given_key)
  call('SADD', KEYS[6], ARGV[a])
  P.version, P[field] = given_project, given_key
  return true
end

-- Fields of the bucket of T, a key or a customer, behind the n that `fields` has. The burst is nearly always stored.
local function add_bucket(fields, n, T)
  fields[n + 1], fields[n + 2], fields[n + 3], fields[n + 4] = 'bl', whole(T.bl), 'bt', whole(T.bt)
  local burst = whole(T.bb)
  if burst == T.stored_burst then return n + 4 end
  fields[n + 5], fields[n + 6] = 'bb', burst
  return n + 6
end

local function write_key(name, K)
  local fields, n = {}, 0
  if K.takes_bucket then n = add_bucket(fields, n, K) end
  if K.takes_tokens then
    fields[n + 1], fields[n + 2], fields[n + 3], fields[n + 4] = 'tl', whole(K.tl), 'tb', whole(K.tb)
    n = n + 4
  end
  if K.takes_tokens or K.steps_back then
    fields[n + 1], fields[n + 2] = 'tt', whole(K.tt)
    n = n + 2
  end
  if K.takes_hold then
    fields[n + 1], fields[n + 2], fields[n + 3], fields[n + 4] = 'c', whole(K.open), 'h', whole(K.h)
    fields[n + 5], fields[n + 6] = hm, whole(K.hm)
    n = n + 6
  end
  if n > 0 then call('HSET', name, unpack(fields)) end
  if K.takes_hold and K.is_new then prune_months(name, month) end
end

local function write_customer(name, C)
  local fields, n = {}, 0
  if C.takes_window then
    fields, n = { 'wh', whole(C.wh), 'wd', whole(C.wd) }, 4
  end
  if C.takes_bucket then n = add_bucket(fields, n, C) end
  if C.is_counted then
    fields[n + 1], fields[n + 2] = 'n', MONTH
    n = n + 2
  end
  for field, count in pairs(C.models) do
    fields[n + 1], fields[n + 2] = field, whole(count)
    n = n + 2
  end
  if C.takes_hold then
    fields[n + 1], fields[n + 2], fields[n + 3], fields[n + 4] = 'hd' .. day, whole(C.hd), hm, whole(C.hm)
    n = n + 4
  end
  if n > 0 then call('HSET', name, unpack(fields)) end
end

local function write_tables()
  for name, K in pairs(keys) do write_key(name, K) end
  for name, P in pairs(projects) do
    if P.has_new_customers then call('HSET', name, 'n' .. MONTH, whole(P.customers)) end
    if P.takes_hold then
      call('HSET', name, hm, whole(P.held))
      if P.is_new then
        prune_months(name, month)
        call('SADD', KEYS[6], P.id)
      end
    end
  end
  if budgets_of_turn then budgets_of_turn.write() end
  if levels_of_turn then levels_of_turn.write() end
  for name, C in pairs(customers) do
    write_customer(name, C)
    if C.takes_window and not C.was_open then open_customer_day(name, day, month) end
  end
  if #holds > 0 then
    call('HSET', KEYS[4], unpack(holds))
    call('ZADD', KEYS[5], unpack(leases))
  end
end
