-- Buckets of the levels above the admissions of a turn. Made for the first request that has some.
local levels_of_turn

local function make_levels(now)
  -- Levels by text, buckets by field.
  local lists, buckets = {}, {}

  -- Those that no earlier text has named, in one command.
  local function load(fields)
    local missing = {}
    for i = 1, #fields do
      if not buckets[fields[i]] then missing[#missing + 1] = fields[i] end
    end
    if #missing == 0 then return end
    local texts = call('HMGET', SHARED, unpack(missing))
    for i = 1, #missing do buckets[missing[i]] = read_bucket(texts[i]) end
  end

  local function bucket(field, rate)
    if not rate then return nil end
    local B = buckets[field]
    B.rate = rate
    return B
  end

  -- Those that a request names: {requests, tokens}, a bucket each or nil. Those of one text are read once.
  local function find(text)
    local list = lists[text]
    if list then return list end
    list = { names = '' }
    local fields = {}
    for id, rate, tpm in string.gmatch(text, '(%S+) (%S+) (%S+)') do
      if tonumber(rate) then fields[#fields + 1] = 'q' .. id end
      if tonumber(tpm) then
        fields[#fields + 1] = 't' .. id
        list.names = list.names .. ' T' .. id .. ':' .. tpm
      end
    end
    load(fields)
    for id, rate, tpm in string.gmatch(text, '(%S+) (%S+) (%S+)') do
      list[#list + 1] = { requests = bucket('q' .. id, tonumber(rate)), tokens = bucket('t' .. id, tonumber(tpm)) }
    end
    lists[text] = list
    return list
  end

  local function level_of(B) return bucket_level(B.level, B.at, now, B.rate, B.rate, B.burst) end

  -- The place of the first level without `units` left in its buckets of a kind, and the milliseconds until it has.
  local function check(list, kind, units)
    for i = 1, #list do
      local B = list[i][kind]
      if B then
        if units > B.rate * UNIT and kind == 'tokens' then return i end
        local level = level_of(B)
        if level < units then return i, bucket_wait(level, units, B.rate) end
      end
    end
  end

  local function take(list, kind, units)
    for i = 1, #list do
      local B = list[i][kind]
      if B then
        B.level, B.at, B.burst, B.is_changed = level_of(B) - units, now, B.rate, true
      end
    end
  end

  local function step_back(list)
    for i = 1, #list do
      for _, B in pairs(list[i]) do
        if B.at and now < B.at then
          B.level, B.at, B.burst, B.is_changed = level_of(B), now, B.rate, true
        end
      end
    end
  end

  local function write()
    local fields = {}
    for field, B in pairs(buckets) do
      if B.is_changed then
        fields[#fields + 1] = field
        fields[#fields + 1] = bucket_text(B)
      end
    end
    if #fields > 0 then call('HSET', SHARED, unpack(fields)) end
  end

  return { find = find, check = check, take = take, step_back = step_back, write = write }
end
