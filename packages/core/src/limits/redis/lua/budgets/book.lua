-- Adds costs to counters of budgets (see kept.lua), and takes off holds; one that is not kept any more takes nothing.
local function book_home(home, names, sums)
  local fields, n = {}, 0
  for i = 1, #names do
    fields[n + 1], fields[n + 2] = 'bs' .. names[i], 'bh' .. names[i]
    n = n + 2
  end
  local stored, kept, deltas, known, m = call('HMGET', home, unpack(fields)), {}, {}, {}, 0
  for i = 1, n, 2 do
    if stored[i + 1] then
      local sum = sums[names[(i + 1) / 2]]
      kept[m + 1], deltas[m + 1], known[m + 1] = fields[i], sum.cost, stored[i]
      kept[m + 2], deltas[m + 2], known[m + 2] = fields[i + 1], -sum.hold, stored[i + 1]
      m = m + 2
    end
  end
  if m > 0 then write_sums(home, kept, deltas, known) end
end

-- `texts`: {cost, hold} of the requests whose holds name the same counters, by those names.
local function book_counters(project, texts)
  local names_at, sums = {}, {}
  for text, more in pairs(texts) do
    -- Names of token buckets are capitalized.
    for name in string.gmatch(text, ' (%l%S*)') do
      local sum = sums[name]
      if sum then
        sums[name] = { cost = sum.cost + more.cost, hold = sum.hold + more.hold }
      else
        local home = home_of(name, project)
        local names = names_at[home] or {}
        names[#names + 1] = name
        names_at[home], sums[name] = names, more
      end
    end
  end
  for home, names in pairs(names_at) do book_home(home, names, sums) end
end

-- Books `cost` and releases `hold` in the counters that a hold names.
local function book_held(project, counters, cost, hold)
  if counters ~= '' then book_counters(project, { [counters] = { cost = cost, hold = hold } }) end
end
