-- Budgets of the admissions of a turn. Made for the first request that has some, so that others pay nothing for it.
local budgets_of_turn

local function make_budgets(now, month)
  -- Lists by project and text, budgets by hash and id.
  local lists, homes = {}, {}

  -- Those that a request names: {id, name, home, period, limit, version}. Those of a project and text are read once. `share`:
  -- the place of the one that may be exceeded, with what the team's budget leaves beside the shares of `others`.
  local function find(text, project_name)
    local known = lists[project_name] or {}
    local list = known[text]
    if list then return list end
    local names, n, others = {}, 0, {}
    list = {}
    for id, limit, mark, version in string.gmatch(text, '(%S+) (%d+)([+-]?) (%d+)') do
      local period = period_of(id, now)
      local budget = {
        id = id, name = id .. ':' .. whole(period), home = home_of(id, project_name), period = period,
        limit = tonumber(limit), version = tonumber(version),
      }
      if mark == '-' then
        others[#others + 1] = budget
      else
        n = n + 1
        names[n], list[n] = budget.name, budget
        if mark == '+' then list.share = n end
        if string.find(id, '^mt[^/]*$') then list.team = n end
      end
    end
    if list.share or #others > 0 then list.others = others end
    list.counters = ' ' .. table.concat(names, ' ')
    known[text], lists[project_name] = list, known
    return list
  end

  -- All of a list that have one home, in one command. Gives them in the list's order.
  local function load_home(home, list)
    local known, fields, ids, n = homes[home] or {}, {}, {}, 0
    homes[home] = known
    for i = 1, #list do
      local budget = list[i]
      if budget.home == home and not known[budget.id] then
        ids[#ids + 1] = budget.id
        fields[n + 1], fields[n + 2], fields[n + 3] = 'b' .. budget.id, 'bs' .. budget.name, 'bh' .. budget.name
        n = n + 3
      end
    end
    if n == 0 then return end
    local v = call('HMGET', home, unpack(fields))
    for i = 1, #ids do
      local B = { text = v[3 * i - 2], spent = v[3 * i - 1], held = v[3 * i] }
      B.latest, B.before, B.version = read_kept(B.text)
      known[ids[i]] = B
    end
  end

  -- The store's part of each budget of the list.
  local function load(list)
    if list.loaded then return list.loaded end
    local loaded = {}
    for i = 1, #list do
      local home, id = list[i].home, list[i].id
      if not homes[home] or not homes[home][id] then load_home(home, list) end
      loaded[i] = homes[home][id]
    end
    list.loaded = loaded
    return loaded
  end

  local function is_nothing(text) return (tonumber(text) or 0) == 0 end

  -- Nothing was spent or is held since the month before this one began: there is nothing to count.
  local function is_unused(budget, P, project_name, K, key_name)
    if string.sub(budget.id, 1, 1) == 'r' or budget.home == SHARED then return false end
    if string.sub(budget.id, 2, 2) == 'k' then return is_nothing(K.h) and is_nothing(call('HGET', key_name, 's')) end
    local before = whole(month - 1)
    local v = call('HMGET', project_name, 's' .. before, 'h' .. before)
    return is_nothing(P.spent) and is_nothing(P.held) and is_nothing(v[1]) and is_nothing(v[2])
  end

  -- What other projects' shares still claim; nil = one of them has to be counted first.
  local function kept_of(others)
    local kept, loaded = 0, load(others)
    for i = 1, #others do
      local other, B = others[i], loaded[i]
      if not is_counted(B.version, other.version) then return nil end
      kept = kept + math.max(0, other.limit - (tonumber(B.spent) or 0) - (tonumber(B.held) or 0))
    end
    return kept
  end

  -- The place in the list of the first budget that does not cover the hold, its spend and holds, and what others keep of it;
  -- 0 = one has to be counted first.
  local function check(list, hold, P, project_name, K, key_name)
    local loaded, is_within = load(list), false
    for i = 1, #list do
      local budget, B = list[i], loaded[i]
      if not is_counted(B.version, budget.version) then
        if B.text or not is_unused(budget, P, project_name, K, key_name) then return 0 end
        B.latest, B.before, B.version, B.is_new = budget.period, 0, budget.version, true
      end
      local is_over = over_limit(budget.limit, B.spent, B.held, hold)
      if i == list.share then
        is_within = not is_over
      elseif is_over then
        return i, (B.spent or '0') .. ' ' .. whole(tonumber(B.held) or 0)
      end
    end
    if is_within or not list.others then return nil end
    local kept, B = kept_of(list.others), loaded[list.team]
    if not kept then return 0 end
    if over_limit(list[list.team].limit - kept, B.spent, B.held, hold) then
      return list.team, (B.spent or '0') .. ' ' .. whole(tonumber(B.held) or 0) .. ' ' .. whole(kept)
    end
  end

  local function take(list, hold)
    for i = 1, #list do
      local B = list.loaded[i]
      B.held, B.takes = (tonumber(B.held) or 0) + hold, list[i]
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
