-- Exact-cache entries of a shard: values, facts for purging, order of age, order of expiry, totals.
-- c = {values, facts, by_age, by_expiry, totals}; a fact is "expires size stored project\tprovider\tmodel".
local function cache_drop(c, key)
  local fact = call('HGET', c[2], key)
  if not fact then return nil end
  local expires, size, project = string.match(fact, '^(%d+) (%d+) %d+ ([^\t]*)')
  call('HDEL', c[1], key)
  call('HDEL', c[2], key)
  call('ZREM', c[3], key)
  call('ZREM', c[4], key)
  call('HINCRBY', c[5], 'b', -size)
  return tonumber(expires), project
end

local function cache_sweep(c, now, most)
  local old = call('ZRANGEBYSCORE', c[4], '-inf', now, 'LIMIT', 0, most)
  for i = 1, #old do cache_drop(c, old[i]) end
  return #old
end

-- Remembers that a still valid entry left, so that the warm tier is worth asking until it would have expired.
local function cache_lost(c, project, expires)
  local known = tonumber(call('HGET', c[5], 'i:' .. project)) or 0
  if expires > known then call('HSET', c[5], 'i:' .. project, whole(expires)) end
end

local function cache_evict(c, now, max)
  cache_sweep(c, now, 64)
  for _ = 1, 256 do
    if tonumber(call('HGET', c[5], 'b')) <= max then return end
    local oldest = call('ZRANGE', c[3], 0, 0)[1]
    local expires, project = cache_drop(c, oldest)
    if expires > now then cache_lost(c, project, expires) end
  end
end

-- Adds entries ({key, value, ttl, owner, key, …}), each hash and order written once for all of them. Gives their bytes and
-- keys. `order` is their place by age: the millisecond of an entry of the log. Earlier releases count entries; theirs are
-- older.
local function cache_add(c, now, max, order, entries)
  local stored, bytes, places, sizes, too_large = whole(now), 0, {}, {}, {}
  local keys, facts, values, ages, ends = {}, {}, {}, {}, {}
  for i = 1, #entries, 4 do
    local key, value, owner = entries[i], entries[i + 1], entries[i + 3]
    local size, at = #value + #key + 256, whole(now + tonumber(entries[i + 2]))
    if size > max then
      too_large[#too_large + 1] = key
      cache_lost(c, string.match(owner, '^[^\t]*'), tonumber(at))
    else
      -- The same question may have been answered twice.
      local n = places[key] or #keys + 1
      bytes = bytes + size - (sizes[n] or 0)
      keys[n], places[key], sizes[n] = key, n, size
      facts[2 * n - 1], facts[2 * n] = key, at .. ' ' .. size .. ' ' .. stored .. ' ' .. owner
      values[2 * n - 1], values[2 * n] = key, at .. ' ' .. stored .. ' ' .. value
      ages[2 * n - 1], ages[2 * n] = order, key
      ends[2 * n - 1], ends[2 * n] = at, key
    end
  end
  if #keys > 0 then
    local known = call('HMGET', c[2], unpack(keys))
    for n = 1, #keys do
      if known[n] then cache_drop(c, keys[n]) end
    end
    call('HSET', c[2], unpack(facts))
    call('HSET', c[1], unpack(values))
    call('ZADD', c[3], unpack(ages))
    call('ZADD', c[4], unpack(ends))
  end
  for i = 1, #too_large do cache_drop(c, too_large[i]) end
  return bytes, keys
end

-- Counts the bytes of added entries, and makes room: for these keys only where nothing older is left.
local function cache_fit(c, now, max, bytes, keys)
  -- Not each time: looking for what expired takes as long as keeping something.
  if now % 8 == 0 then cache_sweep(c, now, 32 * #keys) end
  if bytes == 0 or call('HINCRBY', c[5], 'b', whole(bytes)) <= max then return end
  cache_evict(c, now, max)
  for i = 1, #keys do
    if tonumber(call('HGET', c[5], 'b')) <= max then return end
    local expires, project = cache_drop(c, keys[i])
    if expires then cache_lost(c, project, expires) end
  end
end

local function cache_put(c, now, max, order, entries)
  local bytes, keys = cache_add(c, now, max, order, entries)
  cache_fit(c, now, max, bytes, keys)
end
