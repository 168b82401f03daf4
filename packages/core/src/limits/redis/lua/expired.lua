-- Holds whose lease ran out, as {id, hold, id, hold, …}.
-- KEYS 1 epoch, 2 holds, 3 leases; ARGV 1 epoch, 2 clock, 3 most
if call('GET', KEYS[1]) ~= ARGV[1] then return {} end
local ids = call('ZRANGEBYSCORE', KEYS[3], '-inf', read_clock(ARGV[2]), 'LIMIT', 0, ARGV[3])
local found = {}
for i = 1, #ids do
  local hold = call('HGET', KEYS[2], ids[i])
  if hold then
    found[#found + 1] = ids[i]
    found[#found + 1] = hold
  else
    call('ZREM', KEYS[3], ids[i])
  end
end
return found
