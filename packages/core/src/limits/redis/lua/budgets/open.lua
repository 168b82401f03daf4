-- Begins to count budgets of a project. Until count.lua ends it, no request is admitted under them. What open
-- requests hold is held here too, and their costs are booked; all other spend is in rows and queue.
-- KEYS 1 epoch, 2 project, 3 log, 4 holds
-- ARGV 1 epoch, 2 clock, 3 project id, 4 token of the process, 5 milliseconds until another process's count is void, then
--      per budget (BUDGET fields): id, version, key id or '', label or '', its value (of a run: its id; of a level:
--      'project' or 'key', and the ids of those)
-- Reply: 0 (another epoch), 1 (another process counts one of them), or {last entry of the log or '', then per budget that
--        was not counted: id, period, ids of the open requests}.
local BUDGET = 5
if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local now, budgets, reply = read_clock(ARGV[2]), {}, {}
for i = 6, #ARGV, BUDGET do
  local id = ARGV[i]
  local home = home_of(id, KEYS[2])
  local text = call('HGET', home, 'b' .. id)
  local token, since, left = string.match(text or '', '^%?(%S+) (%d+) (%d+)$')
  if token and token ~= ARGV[4] and math.abs(now - tonumber(since)) < tonumber(ARGV[5]) then return 1 end
  local latest, before, version = read_kept(text)
  if not is_counted(version, tonumber(ARGV[i + 1])) then
    local period, members = whole(period_of(id, now)), nil
    if home == SHARED then
      members = {}
      for member in string.gmatch(ARGV[i + 4], '%S+') do members[member] = true end
    end
    budgets[#budgets + 1] = {
      home = home, members = members,
      id = id, key = ARGV[i + 2], label = ARGV[i + 3], value = ARGV[i + 4], period = period, name = id .. ':' .. period,
      old = { latest or left, before }, held = 0, requests = {},
    }
  end
end
if #budgets == 0 then return { '' } end

local function covers(budget, project, key, record)
  if budget.members then return budget.members[budget.label == 'key' and key or project] end
  if project ~= ARGV[3] then return false end
  if budget.key ~= '' then return budget.key == key end
  if budget.label == '' and budget.value == '' then return true end
  local row = cjson.decode(record)
  if budget.label == '' then return row.runId == budget.value end
  local labels = row.labels
  return type(labels) == 'table' and labels[budget.label] == budget.value
end

local stored = call('HGETALL', KEYS[4])
for i = 1, #stored, 2 do
  local text = stored[i + 1]
  local head, project, key, record = string.match(text, '^([^\n]*)\n([^\t]*)\t([^\t]*)\t[^\n]*\n(.*)$')
  local hold, _, _, _, at, counters = parse_hold(text)
  local names = counters
  for _, budget in ipairs(budgets) do
    local from, to = string.find(names .. ' ', ' ' .. budget.name .. ' ', 1, true)
    if whole(period_of(budget.id, at)) == budget.period and covers(budget, project, key, record) then
      budget.held = budget.held + hold
      table.insert(budget.requests, stored[i])
      if not from then names = names .. ' ' .. budget.name end
    elseif from and budget.members then
      -- Its project or key has left the level.
      names = string.sub(names, 1, from - 1) .. string.sub(names, to)
    end
  end
  if names ~= counters then
    call('HSET', KEYS[4], stored[i], string.sub(head, 1, #head - #counters) .. names .. string.sub(text, #head + 1))
  end
end

local last = call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)
reply[1] = last[1] and last[1][1] or ''
for _, budget in ipairs(budgets) do
  for _, period in pairs(budget.old) do
    local old = budget.id .. ':' .. string.format('%d', period)
    call('HDEL', budget.home, 'bs' .. old, 'bh' .. old)
  end
  call('HSET', budget.home, 'b' .. budget.id, '?' .. ARGV[4] .. ' ' .. whole(now) .. ' ' .. budget.period,
    'bs' .. budget.name, '0', 'bh' .. budget.name, whole(budget.held))
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3] = budget.id, budget.period, table.concat(budget.requests, ' ')
end
return reply
