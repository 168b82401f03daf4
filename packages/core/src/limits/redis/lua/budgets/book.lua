-- Adds `{[<id>:<period>] = {cost, hold}}` to counters of budgets (see kept.lua); one that is not kept any more takes nothing.
local function book_counters(project, sums)
  local names_at, fields_at = {}, {}
  for name in pairs(sums) do
    local home = home_of(name, project)
    local names, fields = names_at[home] or {}, fields_at[home] or {}
    names[#names + 1] = name
    fields[#fields + 1] = 'bh' .. name
    names_at[home], fields_at[home] = names, fields
  end
  for home, names in pairs(names_at) do
    local kept, changes = call('HMGET', home, unpack(fields_at[home])), {}
    for i = 1, #names do
      if kept[i] then
        local n, sum = #changes, sums[names[i]]
        changes[n + 1], changes[n + 2] = 'bs' .. names[i], sum.cost
        changes[n + 3], changes[n + 4] = 'bh' .. names[i], -sum.hold
      end
    end
    add_to_hash(home, changes)
  end
end

-- Books `cost` and releases `hold` in the counters that a hold names.
local function book_held(project, counters, cost, hold)
  if counters == '' then return end
  local sums = {}
  for name in string.gmatch(counters, '%S+') do sums[name] = { cost = cost, hold = hold } end
  book_counters(project, sums)
end
