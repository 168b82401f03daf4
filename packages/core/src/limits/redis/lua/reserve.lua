-- Lowers a hold that stands for requests to come, which themselves hold what they need; without money it is gone, with no row.
-- It takes no place of its key's concurrency, which the name ' R' among its counters tells, and lives without renewals.
-- KEYS 1 epoch, 2 project, 3 key, 4 holds, 5 leases, 6 customer
-- ARGV 1 epoch, 2 request, 3 customer id or '', 4 'to' or 'by', 5 nano-USD, 6 end of its lease
-- Reply: what is left, as text, or '' without such a hold.
if call('GET', KEYS[1]) ~= ARGV[1] then return '' end
local stored = call('HGET', KEYS[4], ARGV[2])
if not stored then return '' end
local hold, lost, tokens, tpm, at, counters = parse_hold(stored)
local left = ARGV[4] == 'by' and hold - tonumber(ARGV[5]) or tonumber(ARGV[5])
left = math.max(0, math.min(left, hold))
local is_new = not string.find(counters, ' R', 1, true)
book_spend(KEYS[2], KEYS[3], at, 0, hold - left, is_new and 1 or 0)
book_held(KEYS[2], counters, 0, hold - left)
if ARGV[3] ~= '' then book_customer(KEYS[6], at, 0, hold - left) end
if left == 0 then
  call('HDEL', KEYS[4], ARGV[2])
  call('ZREM', KEYS[5], ARGV[2])
else
  local rest = string.match(stored, '^[^\n]*(\n.*)$')
  local numbers = { whole(left), whole(lost), whole(tokens), whole(tpm), whole(at) }
  call('HSET', KEYS[4], ARGV[2], table.concat(numbers, ' ') .. counters .. (is_new and ' R' or '') .. rest)
  call('ZADD', KEYS[5], ARGV[6], ARGV[2])
end
return whole(left)
