-- Extends the leases of holds that are still open. KEYS 1 epoch, 2 leases; ARGV 1 epoch, 2 clock, then request ids
if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local lease, args = read_clock(ARGV[2]) + LEASE_MS, {}
for i = 3, #ARGV do
  args[#args + 1] = lease
  args[#args + 1] = ARGV[i]
end
call('ZADD', KEYS[2], 'XX', unpack(args))
return 1
