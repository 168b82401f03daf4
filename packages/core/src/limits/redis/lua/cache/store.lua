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

-- Entries {key, value, ttl, owner}; of several with one key the last stays.
local function cache_put_all(c, now, entries, max)
  local keys, last = {}, {}
  for i = 1, #entries do
    if not last[entries[i][1]] then keys[#keys + 1] = entries[i][1] end
    last[entries[i][1]] = entries[i]
  end
  local known = redis.call('HMGET', c[2], unpack(keys))
  for i = 1, #keys do
    if known[i] then cache_drop(c, keys[i]) end
  end
  cache_sweep(c, now, 4 * #keys)
  local values, facts, ages, ends, kept, bytes = {}, {}, {}, {}, {}, 0
  for i = 1, #keys do
    local key, value, ttl, owner = unpack(last[keys[i]])
    local expires, size = now + ttl, #value + #key + 256
    if size > max then
      cache_lost(c, string.match(owner, '^[^\t]*'), expires)
    else
      local at, n = whole(expires), 2 * #kept
      values[n + 1], values[n + 2] = key, at .. ' ' .. whole(now) .. ' ' .. value
      facts[n + 1], facts[n + 2] = key, at .. ' ' .. size .. ' ' .. whole(now) .. ' ' .. owner
      ages[n + 2], ends[n + 1], ends[n + 2] = key, at, key
      kept[#kept + 1] = key
      bytes = bytes + size
    end
  end
  if #kept == 0 then return end
  local newest = redis.call('HINCRBY', c[5], 'n', #kept)
  for i = 1, #kept do ages[2 * i - 1] = newest - #kept + i end
  redis.call('HSET', c[1], unpack(values))
  redis.call('HSET', c[2], unpack(facts))
  redis.call('ZADD', c[3], unpack(ages))
  redis.call('ZADD', c[4], unpack(ends))
  if redis.call('HINCRBY', c[5], 'b', bytes) <= max then return end
  cache_evict(c, now, max)
  for i = 1, #kept do
    if tonumber(redis.call('HGET', c[5], 'b')) <= max then return end
    local expires, project = cache_drop(c, kept[i])
    if expires then cache_lost(c, project, expires) end
  end
end

local function cache_put(c, now, key, value, ttl, owner, max)
  cache_put_all(c, now, { { key, value, ttl, owner } }, max)
end
