-- Takes entries off the queue for good. KEYS 1 log; ARGV 1 group, then entry ids
local ids = {}
for i = 2, #ARGV do ids[i - 1] = ARGV[i] end
pcall(call, 'XACK', KEYS[1], ARGV[1], unpack(ids))
return call('XDEL', KEYS[1], unpack(ids))
