-- Budgets by day, week, month and run. Their counters are fields of the project's hash: bs<id>:<period> spent, bh<id>:<period>
-- held. b<id> says which periods are kept: "<latest> <before> <version>" (before 0 = none), or while a process counts the
-- rows "?<token> <time of its last beat> <period>".
local function period_of(id, ms)
  local span, day = string.sub(id, 1, 1), day_of(ms)
  if span == 'd' then return day end
  if span == 'r' then return 1 end
  return span == 'w' and floor((day + 3) / 7) or month_of(ms)
end

local function read_kept(text)
  local latest, before, version = string.match(text or '', '^(%d+) (%d+) (%d+)$')
  return tonumber(latest), tonumber(before), tonumber(version)
end

-- Requests of the version that was skipped may have had no such budget: then its spend is not known.
local function is_counted(version, asked) return version == asked or (version and version + 1 == asked) end
