-- Begins to count budgets of a project. Until count.lua ends it, no request is admitted under them. What open
-- requests hold is held here too, and their costs are booked; all other spend is in rows and queue.
-- KEYS 1 epoch, 2 project, 3 log, 4 holds
-- ARGV 1 epoch, 2 clock, 3 project id, 4 token of the process, 5 milliseconds until another process's count is void, then
--      per budget (BUDGET fields): id, version, key id or '', label or '', its value (of a run: its id)
-- Reply: 0 (another epoch), 1 (another process counts one of them), or {last entry of the log or '', then per budget that
--        was not counted: id, period, ids of the open requests}.
local BUDGET = 5
if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local now, budgets, reply = read_clock(ARGV[2]), {}, {}
for i = 6, #ARGV, BUDGET do
  local id = ARGV[i]
  local text = call('HGET', KEYS[2], 'b' .. id)
  local token, since, left = string.match(text or '', '^%?(%S+) (%d+) (%d+)$')
  if token and token ~= ARGV[4] and math.abs(now - tonumber(since)) < tonumber(ARGV[5]) then return 1 end
  local latest, before, version = read_kept(text)
  if not is_counted(version, tonumber(ARGV[i + 1])) then
    local period = whole(period_of(id, now))
    budgets[#budgets + 1] = {
      id = id, key = ARGV[i + 2], label = ARGV[i + 3], value = ARGV[i + 4], period = period, name = id .. ':' .. period,
      old = { latest or left, before }, held = 0, requests = {},
    }
  end
end
if #budgets == 0 then return { '' } end

local function covers(budget, key, record)
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
  if project == ARGV[3] then
    local hold, _, _, _, at, counters = parse_hold(text)
    local added = ''
    for _, budget in ipairs(budgets) do
      if whole(period_of(budget.id, at)) == budget.period and covers(budget, key, record) then
        budget.held = budget.held + hold
        table.insert(budget.requests, stored[i])
        if not string.find(counters .. ' ', ' ' .. budget.name .. ' ', 1, true) then added = added .. ' ' .. budget.name end
      end
    end
    if added ~= '' then call('HSET', KEYS[4], stored[i], head .. added .. string.sub(text, #head + 1)) end
  end
end

local last = call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)
reply[1] = last[1] and last[1][1] or ''
for _, budget in ipairs(budgets) do
  for _, period in pairs(budget.old) do
    local old = budget.id .. ':' .. string.format('%d', period)
    call('HDEL', KEYS[2], 'bs' .. old, 'bh' .. old)
  end
  call('HSET', KEYS[2], 'b' .. budget.id, '?' .. ARGV[4] .. ' ' .. whole(now) .. ' ' .. budget.period,
    'bs' .. budget.name, '0', 'bh' .. budget.name, whole(budget.held))
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3] = budget.id, budget.period, table.concat(budget.requests, ' ')
end
return reply
