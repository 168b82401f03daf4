-- Entries and bytes, after sweeping out expired ones. KEYS 1–5 the cache; ARGV 1 clock
cache_sweep(KEYS, read_clock(ARGV[1]), 1000)
return { call('HLEN', KEYS[2]), tonumber(call('HGET', KEYS[5], 'b')) or 0 }
