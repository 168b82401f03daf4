-- Raises versions of a project and its keys; never lowers one.
-- KEYS 1 project, 2 projects; ARGV 1 project id, then field, version, field, version, …
for i = 2, #ARGV, 2 do
  local known = tonumber(call('HGET', KEYS[1], ARGV[i]))
  if not known or known < tonumber(ARGV[i + 1]) then call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
end
call('SADD', KEYS[2], ARGV[1])
return 1
