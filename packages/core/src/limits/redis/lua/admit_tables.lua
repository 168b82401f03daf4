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
