-- KEYS 1 epoch; reply: {epoch or '', run id of the server that holds it, server time}
local run = string.match(call('INFO', 'server'), 'run_id:(%w+)')
local t = call('TIME')
return { call('GET', KEYS[1]) or '', run, t[1] * 1000 + math.floor(t[2] / 1000) }
