-- Requests and tokens a minute of organizations, teams and users, in the hash of their budgets: q<id> and t<id> hold a
-- bucket, "<level> <time> <burst>". A hold names the token buckets it took from: T<id>:<tokens a minute>.
local function read_bucket(text)
  local level, at, burst = string.match(text or '', '^(%-?%d+) (%d+) (%d+)$')
  return { level = tonumber(level), at = tonumber(at), burst = tonumber(burst) }
end

local function bucket_text(B) return whole(B.level) .. ' ' .. whole(B.at) .. ' ' .. whole(B.burst) end

-- Gives back tokens to buckets of levels: lists of tokens, in order, by name. By the limit of now: the hold's may have been
-- changed meanwhile. All are read in one command and written in another.
local function adjust_levels(given_back, now)
  local fields, rates, lists = {}, {}, {}
  for name, tokens in pairs(given_back) do
    local id, tpm = string.match(name, '^T(.+):(%d+)$')
    local at = #fields + 1
    fields[at], rates[at], lists[at] = 't' .. id, tonumber(tpm), tokens
  end
  local texts, buckets, written = call('HMGET', SHARED, unpack(fields)), {}, {}
  for i = 1, #fields do
    -- Of holds with different limits a bucket has several names.
    local B = buckets[fields[i]] or read_bucket(texts[i])
    buckets[fields[i]] = B
    B.burst = B.burst or rates[i]
    B.level = bucket_level(B.level, B.at, now, B.burst, B.burst)
    for j = 1, #lists[i] do B.level = bucket_adjust(B.level, lists[i][j], B.burst) end
    B.at = now
  end
  for field, B in pairs(buckets) do
    written[#written + 1] = field
    written[#written + 1] = bucket_text(B)
  end
  call('HSET', SHARED, unpack(written))
end
