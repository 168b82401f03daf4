-- Values of several entries at once. KEYS 1 epoch, 2 the values; ARGV 1 epoch, 2 clock, from 3 on the keys. Reply: a
-- value or nil for each.
if call('GET', KEYS[1]) ~= ARGV[1] then return {} end
local now, found = read_clock(ARGV[2]), {}
for i = 3, #ARGV do
  local entry = call('HGET', KEYS[2], ARGV[i])
  local expires, value
  if entry then expires, value = string.match(entry, '^(%d+) %d+ (.*)$') end
  found[i - 2] = expires and tonumber(expires) > now and value or false
end
return found
