-- The store's clock in epoch milliseconds; a given time stands in for it in tests only.
local function read_clock(given)
  if given ~= '' then return tonumber(given) end
  local t = call('TIME')
  return t[1] * 1000 + (t[2] - t[2] % 1000) / 1000
end

-- Text of a whole number. Concatenation prints 14 digits, and Redis takes five times as long for a number as for text.
local function whole(n) return format('%d', n) end

local DAY_MS = 86400000
local function day_of(ms) return floor(ms / DAY_MS) end

-- Months since the year 0 (days to civil date after Howard Hinnant).
local function month_of(ms)
  local z = floor(ms / DAY_MS) + 719468
  local era = floor(z / 146097)
  local doe = z - era * 146097
  local yoe = floor((doe - floor(doe / 1460) + floor(doe / 36524) - floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + floor(yoe / 4) - floor(yoe / 100))
  local mp = floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  return (yoe + era * 400 + (month <= 2 and 1 or 0)) * 12 + month - 1
end
