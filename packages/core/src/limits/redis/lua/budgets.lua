-- Budgets by day, week and month. Their counters are fields of the project's hash: bs<id>:<period> spent, bh<id>:<period>
-- held. b<id> says which periods are kept: "<latest> <before> <version>" (before 0 = none), or while a process counts the
-- rows "?<token> <time> <period>".
local function period_of(id, ms)
  local span, day = string.sub(id, 1, 1), day_of(ms)
  if span == 'd' then return day end
  return span == 'w' and floor((day + 3) / 7) or month_of(ms)
end

local function read_kept(text)
  local latest, before, version = string.match(text or '', '^(%d+) (%d+) (%d+)$')
  return tonumber(latest), tonumber(before), tonumber(version)
end

-- Requests of the version that was skipped may have had no such budget: then its spend is not known.
local function is_counted(version, asked) return version == asked or (version and version + 1 == asked) end

-- Adds `{[<id>:<period>] = {cost, hold}}`; a counter that is not kept any more takes nothing.
local function book_counters(project, sums)
  local names, fields = {}, {}
  for name in pairs(sums) do
    names[#names + 1] = name
    fields[#fields + 1] = 'bh' .. name
  end
  local kept, changes = call('HMGET', project, unpack(fields)), {}
  for i = 1, #names do
    if kept[i] then
      local n, sum = #changes, sums[names[i]]
      changes[n + 1], changes[n + 2] = 'bs' .. names[i], sum.cost
      changes[n + 3], changes[n + 4] = 'bh' .. names[i], -sum.hold
    end
  end
  add_to_hash(project, changes)
end

-- Books `cost` and releases `hold` in the counters that a hold names.
local function book_held(project, counters, cost, hold)
  if counters == '' then return end
  local sums = {}
  for name in string.gmatch(counters, '%S+') do sums[name] = { cost = cost, hold = hold } end
  book_counters(project, sums)
end

-- Books `cost` in those of the budgets that are counted in the period of `at`.
local function book_covering(project, ids, at, cost)
  if ids == '' or cost == 0 then return end
  local names, fields = {}, {}
  for id in string.gmatch(ids, '%S+') do
    names[#names + 1] = id
    fields[#fields + 1] = 'b' .. id
  end
  local kept, changes = call('HMGET', project, unpack(fields)), {}
  for i = 1, #names do
    local period, latest, before = period_of(names[i], at), read_kept(kept[i])
    if period == latest or period == before then
      changes[#changes + 1] = 'bs' .. names[i] .. ':' .. whole(period)
      changes[#changes + 1] = cost
    end
  end
  add_to_hash(project, changes)
end
