-- Writes an entry without a settlement. KEYS 1 epoch, 2–6 the cache; ARGV 1 epoch, 2 clock, 3 key, 4 value, 5 ttl,
-- 6 owner, 7 byte bound
if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local t = call('TIME')
cache_put({ KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6] }, read_clock(ARGV[2]), tonumber(ARGV[7]),
  format('%.3f', t[1] * 1000 + t[2] / 1000), { ARGV[3], ARGV[4], ARGV[5], ARGV[6] })
return 1
