-- Writes an entry without a settlement. KEYS 1 epoch, 2–6 the cache; ARGV 1 epoch, 2 clock, 3 key, 4 value, 5 ttl,
-- 6 owner, 7 byte bound
if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local t = call('TIME')
local kept = { key = ARGV[3], value = ARGV[4], ttl = tonumber(ARGV[5]), owner = ARGV[6], order = whole(t[1] * 1e6 + t[2]) }
cache_put_all({ KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6] }, read_clock(ARGV[2]), { kept }, tonumber(ARGV[7]))
return 1
