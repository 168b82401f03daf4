-- The store's clock in epoch milliseconds; a given time stands in for it in tests only.
local function read_clock(given)
  if given ~= '' then return tonumber(given) end
  local t = redis.call('TIME')
  return t[1] * 1000 + (t[2] - t[2] % 1000) / 1000
end

-- Concatenation prints 14 digits: whole numbers beyond need this.
local function whole(n) return string.format('%d', n) end

local DAY_MS = 86400000
local function day_of(ms) return math.floor(ms / DAY_MS) end

-- Months since the year 0 (days to civil date after Howard Hinnant).
local function month_of(ms)
  local z = math.floor(ms / DAY_MS) + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  return (yoe + era * 400 + (month <= 2 and 1 or 0)) * 12 + month - 1
end
