#!lua
-- key_give - ends a reservation of key_take and counts what was used in truth.
--
-- KEYS  caps, flight (see key_take.lua)
-- ARGV  reservation, key id, period, amount reserved, amount used
-- A reservation that has lapsed is counted all the same; a period that is over is not.
-- -> {used and reserved of the key}
local call, format, match, tonumber = redis.call, string.format, string.match, tonumber
local KEEP = 172800
local caps, flight, id, wanted = KEYS[1], KEYS[2], ARGV[2], tonumber(ARGV[3])
local reserved, amount = tonumber(ARGV[4]), tonumber(ARGV[5])
local text = call('HGET', caps, id)
local period, used, held = match(text or '', '^(%d+) (%d+) (%d+)$')
period, used, held = tonumber(period) or 0, tonumber(used) or 0, tonumber(held) or 0

if call('ZREM', flight, format('%s:%d:%s', id, reserved, ARGV[1])) == 1 then
    held = held > reserved and held - reserved or 0
end
if period < wanted then period, used = wanted, 0 end
if period == wanted then used = used + amount end
call('HSET', caps, id, format('%d %d %d', period, used, held))
call('EXPIRE', caps, KEEP)
return {used + held}
