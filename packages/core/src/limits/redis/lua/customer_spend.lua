-- A customer's limits (one packed text, written by spend.ts), request windows and spend.
local HOUR_MS = 3600000
local CUSTOMER_SECONDS = 6048000

local function parse_limits(text)
  local daily, monthly, each, rpm, rph, rpd, mode, model =
    string.match(text, '^(%d*) (%d*) (%d*) (%d*) (%d*) (%d*) (%a+) ([^\n]*)')
  return {
    daily = tonumber(daily), monthly = tonumber(monthly), each = tonumber(each),
    rpm = tonumber(rpm), rph = tonumber(rph), rpd = tonumber(rpd), mode = mode, model = model, text = text,
  }
end

local function model_limit(limits, model)
  local _, at = string.find(limits.text, '\n' .. model .. '\t', 1, true)
  return at and tonumber(string.match(limits.text, '^%d+', at + 1))
end

-- Fixed UTC windows as window × 1e9 + count; a small step back of the clock keeps counting in the later window.
local function read_window(stored, now, length)
  local current = math.floor(now / length)
  stored = tonumber(stored)
  if not stored then return current, 0 end
  local window = math.floor(stored / 1e9)
  if window == current or window == current + 1 then return window, stored - window * 1e9 end
  return current, 0
end

-- Days and months that are over leave the hash; it goes by itself when the customer stays away for 70 days.
local function open_customer_day(key, day, month)
  local fields = {}
  for old = day - 15, day - 8 do
    fields[#fields + 1] = 'sd' .. old
    fields[#fields + 1] = 'hd' .. old
  end
  call('HDEL', key, unpack(fields))
  prune_months(key, month)
  call('EXPIRE', key, CUSTOMER_SECONDS)
end

local function book_customer(key, at, cost, hold)
  local day, month = whole(day_of(at)), whole(month_of(at))
  add_to_hash(key, { 'sd' .. day, cost, 'hd' .. day, -hold, 's' .. month, cost, 'h' .. month, -hold })
end
