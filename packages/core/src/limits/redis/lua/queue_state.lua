-- KEYS 1 epoch, 2 log; ARGV 1 epoch ('' = any). Reply: {1 = epoch holds, length, first entry id or '', server now}
local first = call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
local t = call('TIME')
local same = ARGV[1] == '' or call('GET', KEYS[1]) == ARGV[1]
return { same and 1 or 0, call('XLEN', KEYS[2]), first and first[1] or '', t[1] * 1000 + math.floor(t[2] / 1000) }
