-- Ends the count of a budget, or without a spend says that it goes on, unless another process took it over.
-- KEYS 1 epoch, 2 project; ARGV 1 epoch, 2 clock, 3 token, 4 id, 5 version, 6 spend of the rows or ''
if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local name, spent = 'b' .. ARGV[4], ARGV[6]
local token, period = string.match(call('HGET', KEYS[2], name) or '', '^%?(%S+) %d+ (%d+)$')
if token ~= ARGV[3] then return 0 end
if spent == '' then
  call('HSET', KEYS[2], name, '?' .. token .. ' ' .. whole(read_clock(ARGV[2])) .. ' ' .. period)
  return 1
end
call('HINCRBY', KEYS[2], 'bs' .. ARGV[4] .. ':' .. period, spent)
call('HSET', KEYS[2], name, period .. ' 0 ' .. ARGV[5])
return 1
