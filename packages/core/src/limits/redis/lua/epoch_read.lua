-- KEYS 1 epoch; reply: {epoch or '', run id of the server that holds it, server time}
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local t = redis.call('TIME')
return { redis.call('GET', KEYS[1]) or '', run, t[1] * 1000 + math.floor(t[2] / 1000) }
