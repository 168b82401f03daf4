-- Budgets of the admissions of a turn. Made for the first request that has some, so that others pay nothing for it.
local budgets_of_turn

local function make_budgets(now, month)
  -- Budgets by hash and id.
  local lists, homes = {}, {}

  -- Those that a request names: {id, name, period, limit, version}. Those of one text are read once.
  local function find(text)
    local list = lists[text]
    if list then return list end
    list = { counters = '' }
    for id, limit, version in string.gmatch(text, '(%a%S*) (%d+) (%d+)') do
      local period = period_of(id, now)
      local budget = { id = id, period = period, limit = tonumber(limit), version = tonumber(version) }
      budget.name = id .. ':' .. whole(period)
      list[#list + 1] = budget
      list.counters = list.counters .. ' ' .. budget.name
    end
    lists[text] = list
    return list
  end

  local function known(budget, project_name) return homes[home_of(budget.id, project_name)][budget.id] end

  local function load(project_name, list)
    local fields, missing = {}, {}
    for i = 1, #list do
      local budget = list[i]
      local home = home_of(budget.id, project_name)
      homes[home] = homes[home] or {}
      if not homes[home][budget.id] then
        local own, ids = fields[home] or {}, missing[home] or {}
        local n = #own
        own[n + 1], own[n + 2], own[n + 3] = 'b' .. budget.id, 'bs' .. budget.name, 'bh' .. budget.name
        ids[#ids + 1] = budget.id
        fields[home], missing[home] = own, ids
      end
    end
    for home, ids in pairs(missing) do
      local v = call('HMGET', home, unpack(fields[home]))
      for i = 1, #ids do
        local B = { text = v[3 * i - 2], spent = v[3 * i - 1], held = v[3 * i] }
        B.latest, B.before, B.version = read_kept(B.text)
        homes[home][ids[i]] = B
      end
    end
  end

  local function is_nothing(text) return (tonumber(text) or 0) == 0 end

  -- Nothing was spent or is held since the month before this one began: there is nothing to count.
  local function is_unused(id, P, project_name, K, key_name)
    if string.sub(id, 1, 1) == 'r' or home_of(id, project_name) == SHARED then return false end
    if string.sub(id, 2, 2) == 'k' then return is_nothing(K.h) and is_nothing(call('HGET', key_name, 's')) end
    local before = whole(month - 1)
    local v = call('HMGET', project_name, 's' .. before, 'h' .. before)
    return is_nothing(P.spent) and is_nothing(P.held) and is_nothing(v[1]) and is_nothing(v[2])
  end

  -- The place in the list of the first budget that does not cover the hold, and its spend; 0 = one has to be counted first.
  local function check(list, hold, P, project_name, K, key_name)
    load(project_name, list)
    for i = 1, #list do
      local budget, B = list[i], known(list[i], project_name)
      if not is_counted(B.version, budget.version) then
        if B.text or not is_unused(budget.id, P, project_name, K, key_name) then return 0 end
        B.latest, B.before, B.version, B.is_new = budget.period, 0, budget.version, true
      end
      if over_limit(budget.limit, B.spent, B.held, hold) then return i, B.spent or 0 end
    end
  end

  local function take(list, hold, project_name)
    for i = 1, #list do
      local budget = list[i]
      local B = known(budget, project_name)
      B.held, B.takes = (tonumber(B.held) or 0) + hold, budget
    end
  end

  -- Two periods of a budget are kept: the latest one, and the one that was used before it.
  local function write_home(home, budgets)
    local fields, gone = {}, {}
    for id, B in pairs(budgets) do
      local taken = B.takes
      if taken then
        local n, is_other = #fields, taken.period ~= B.latest and taken.period ~= B.before
        fields[n + 1], fields[n + 2] = 'bh' .. taken.name, whole(B.held)
        if is_other then
          local old = id .. ':' .. whole(B.before)
          gone[#gone + 1], gone[#gone + 2] = 'bs' .. old, 'bh' .. old
          B.before, B.latest = math.min(B.latest, taken.period), math.max(B.latest, taken.period)
        end
        if is_other or B.is_new or B.version ~= taken.version then
          fields[n + 3] = 'b' .. id
          fields[n + 4] = whole(B.latest) .. ' ' .. whole(B.before) .. ' ' .. whole(taken.version)
        end
      end
    end
    if #gone > 0 then call('HDEL', home, unpack(gone)) end
    if #fields > 0 then call('HSET', home, unpack(fields)) end
  end

  local function write()
    for home, budgets in pairs(homes) do write_home(home, budgets) end
  end

  return { find = find, check = check, take = take, write = write }
end
