-- Token buckets in whole numbers: a level counts 1/60000 tokens, a rate per minute is units per millisecond.
local UNIT = 60000

-- Level now. A clock that stepped back refills nothing; storing `now` keeps it from locking. What the burst was raised
-- by since it was stored (`before`) is there at once.
local function bucket_level(level, at, now, rate, burst, before)
  local capacity = burst * UNIT
  level = tonumber(level)
  if not level then return capacity end
  local elapsed = now - tonumber(at)
  if elapsed < 0 then elapsed = 0 end
  local raised = math.max(0, burst - (tonumber(before) or burst)) * UNIT
  return math.min(capacity, level + raised + elapsed * rate)
end

-- Milliseconds until `units` are there; -1 = never.
local function bucket_wait(level, units, rate)
  if rate <= 0 then return -1 end
  return math.ceil((units - level) / rate)
end

-- Estimated too much comes back, too little is owed, down to one full bucket.
local function bucket_adjust(level, tokens, burst)
  local capacity = burst * UNIT
  return math.max(-capacity, math.min(capacity, level + tokens * UNIT))
end
