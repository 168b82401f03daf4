-- Whose records are in the queue. KEYS 1 log; ARGV 1 where to begin, 2 most. Reply: {entry id, request id, …}
local entries, ids = call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2]), {}
for i = 1, #entries do
  ids[2 * i - 1], ids[2 * i] = entries[i][1], entries[i][2][2]
end
return ids
