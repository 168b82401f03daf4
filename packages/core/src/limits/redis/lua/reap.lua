-- Books a hold whose lease ran out, and queues the row of the lost request. Its late settlement may correct it once.
-- KEYS 1 epoch, 2 project, 3 key, 4 log, 5 holds, 6 leases, 7 customer, 8 done marker
-- ARGV 1 epoch, 2 clock, 3 request, 4 customer id or '', 5 record
-- Reply: 1 reaped, 0 not (any more) to be reaped.
if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local lease = tonumber(call('ZSCORE', KEYS[6], ARGV[3]))
local stored = call('HGET', KEYS[5], ARGV[3])
if not stored or (lease and lease > read_clock(ARGV[2])) then return 0 end
local hold, lost, _, _, at, counters = parse_hold(stored)
book_spend(KEYS[2], KEYS[3], at, lost, hold, string.find(counters, ' R', 1, true) and 0 or 1)
book_held(KEYS[2], counters, lost, hold)
if ARGV[4] ~= '' then book_customer(KEYS[7], at, lost, hold) end
call('HDEL', KEYS[5], ARGV[3])
call('ZREM', KEYS[6], ARGV[3])
call('SET', KEYS[8], 'r' .. whole(lost) .. ' ' .. whole(at), 'PX', REAPED_MARKER_MS)
call('XADD', KEYS[4], '*', 'i', ARGV[3], 'r', ARGV[5])
return 1
