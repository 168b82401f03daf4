-- Requests and tokens a minute of organizations, teams and users, in the hash of their budgets: q<id> and t<id> hold a
-- bucket, "<level> <time> <burst>". A hold names the token buckets it took from: T<id>:<tokens a minute>.
local function read_bucket(text)
  local level, at, burst = string.match(text or '', '^(%-?%d+) (%d+) (%d+)$')
  return { level = tonumber(level), at = tonumber(at), burst = tonumber(burst) }
end

local function bucket_text(B) return whole(B.level) .. ' ' .. whole(B.at) .. ' ' .. whole(B.burst) end

-- Gives back tokens to a level's bucket, in order, by its limit of now: the hold's may have been changed meanwhile.
local function adjust_level(name, tokens, now)
  local id, tpm = string.match(name, '^T(.+):(%d+)$')
  local B = read_bucket(call('HGET', SHARED, 't' .. id))
  B.burst = B.burst or tonumber(tpm)
  B.level = bucket_level(B.level, B.at, now, B.burst, B.burst)
  for i = 1, #tokens do B.level = bucket_adjust(B.level, tokens[i], B.burst) end
  B.at = now
  call('HSET', SHARED, 't' .. id, bucket_text(B))
end
