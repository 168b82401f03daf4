-- Removes the given entries. KEYS 1–5 the cache; ARGV keys. Reply: how many there were.
local removed = 0
for i = 1, #ARGV do
  if cache_drop(KEYS, ARGV[i]) then removed = removed + 1 end
end
return removed
