-- Exact-cache entries of a shard: values, facts for purging, order of age, order of expiry, totals.
-- c = {values, facts, by_age, by_expiry, totals}; a fact is "expires size stored project\tprovider\tmodel".
local function cache_drop(c, key)
  local fact = redis.call('HGET', c[2], key)
  if not fact then return nil end
  local expires, size, project = string.match(fact, '^(%d+) (%d+) %d+ ([^\t]*)')
  redis.call('HDEL', c[1], key)
  redis.call('HDEL', c[2], key)
  redis.call('ZREM', c[3], key)
  redis.call('ZREM', c[4], key)
  redis.call('HINCRBY', c[5], 'b', -size)
  return tonumber(expires), project
end

local function cache_sweep(c, now, most)
  local old = redis.call('ZRANGEBYSCORE', c[4], '-inf', now, 'LIMIT', 0, most)
  for i = 1, #old do cache_drop(c, old[i]) end
  return #old
end

-- Remembers that a still valid entry left, so that the warm tier is worth asking until it would have expired.
local function cache_lost(c, project, expires)
  local known = tonumber(redis.call('HGET', c[5], 'i:' .. project)) or 0
  if expires > known then redis.call('HSET', c[5], 'i:' .. project, expires) end
end

local function cache_evict(c, now, max)
  cache_sweep(c, now, 64)
  for _ = 1, 256 do
    if tonumber(redis.call('HGET', c[5], 'b')) <= max then return end
    local oldest = redis.call('ZRANGE', c[3], 0, 0)[1]
    local expires, project = cache_drop(c, oldest)
    if expires > now then cache_lost(c, project, expires) end
  end
end

local function cache_put(c, now, key, value, ttl, owner, max)
  local expires, size = now + ttl, #value + #key + 256
  cache_drop(c, key)
  cache_sweep(c, now, 4)
  local project = string.match(owner, '^[^\t]*')
  if size > max then
    cache_lost(c, project, expires)
    return
  end
  local at = whole(expires)
  redis.call('HSET', c[1], key, at .. ' ' .. whole(now) .. ' ' .. value)
  redis.call('HSET', c[2], key, at .. ' ' .. size .. ' ' .. whole(now) .. ' ' .. owner)
  redis.call('ZADD', c[3], redis.call('HINCRBY', c[5], 'n', 1), key)
  redis.call('ZADD', c[4], at, key)
  if redis.call('HINCRBY', c[5], 'b', size) > max then
    cache_evict(c, now, max)
    if tonumber(redis.call('HGET', c[5], 'b')) > max then
      cache_drop(c, key)
      cache_lost(c, project, expires)
    end
  end
end
