-- Replaces a value only while it is the expected one. KEYS 1; ARGV 1 expected, 2 new ('' = delete), 3 ttl ms or 0
if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then
  call('DEL', KEYS[1])
elseif ARGV[3] == '0' then
  call('SET', KEYS[1], ARGV[2])
else
  call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
return 1
