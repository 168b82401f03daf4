-- Ends the count of a budget, unless another process took it over.
-- KEYS 1 epoch, 2 project; ARGV 1 epoch, 2 token, 3 id, 4 version, 5 spend of the rows
if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local token, period = string.match(call('HGET', KEYS[2], 'b' .. ARGV[3]) or '', '^%?(%S+) %d+ (%d+)$')
if token ~= ARGV[2] then return 0 end
call('HINCRBY', KEYS[2], 'bs' .. ARGV[3] .. ':' .. period, ARGV[5])
call('HSET', KEYS[2], 'b' .. ARGV[3], period .. ' 0 ' .. ARGV[4])
return 1
