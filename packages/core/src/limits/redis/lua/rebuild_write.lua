-- Sets fields of one hash while this rebuild is the current one. KEYS 1 epoch, 2 hash, [3 projects]
-- ARGV 1 rebuild mark, 2 seconds to live or 0, 3 replace, 4 project id or '', then fields and values
if call('GET', KEYS[1]) ~= ARGV[1] then return redis.error_reply('ERR another rebuild took over') end
if ARGV[3] == '1' then call('DEL', KEYS[2]) end
for i = 5, #ARGV, 1000 do call('HSET', KEYS[2], unpack(ARGV, i, math.min(i + 999, #ARGV))) end
if ARGV[2] ~= '0' and #ARGV > 4 then call('EXPIRE', KEYS[2], ARGV[2]) end
if ARGV[4] ~= '' then call('SADD', KEYS[3], ARGV[4]) end
return 1
