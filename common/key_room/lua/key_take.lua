#!lua
-- key_take - reserves room of the first of some keys of a channel whose cap has enough of it.
--
-- KEYS  caps (hash: key id -> "period used held"), flight (set of reservations by their end)
-- ARGV  reservation, lease in ms, then for each key, best first: id, period, cap, used, amount
--       used: what the caller knows; it counts when this server knows nothing of that period, since
--       what is reserved is in it: beside the server's own figures it would be counted twice
-- Neither key is money: both have a TTL, and either may be evicted without the other.
-- -> {which one, counted from 1, 0: none; then used of each}
local call, format, match, tonumber = redis.call, string.format, string.match, tonumber
local KEEP, SWEEP = 172800, 64
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local caps, flight = KEYS[1], KEYS[2]

local function read(id)
    local text = call('HGET', caps, id)
    local period, used, held = match(text or '', '^(%d+) (%d+) (%d+)$')
    return tonumber(period) or 0, tonumber(used) or 0, tonumber(held) or 0
end
local function write(id, period, used, held)
    call('HSET', caps, id, format('%d %d %d', period, used, held > 0 and held or 0))
end

-- Reservations whose worker died.
for _, member in ipairs(call('ZRANGEBYSCORE', flight, '-inf', now, 'LIMIT', 0, SWEEP)) do
    local id, amount = match(member, '^(%d+):(%d+):')
    if id then
        local period, used, held = read(id)
        write(id, period, used, held - amount)
    end
    call('ZREM', flight, member)
end
local none = call('ZCARD', flight) == 0

local answer = {0}
for i = 3, #ARGV, 5 do
    local id, wanted = ARGV[i], tonumber(ARGV[i + 1])
    local cap, floor, amount = tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4])
    local period, used, held = read(id)
    if none then held = 0 end
    if period < wanted then period, used = wanted, floor end
    answer[#answer + 1] = used + held
    if answer[1] == 0 and used + held + amount <= cap then
        answer[1] = (i - 3) / 5 + 1
        answer[#answer] = used + held + amount
        write(id, period, used, held + amount)
        call('ZADD', flight, now + ARGV[2], format('%s:%d:%s', id, amount, ARGV[1]))
    end
end
call('EXPIRE', caps, KEEP)
call('EXPIRE', flight, KEEP)
return answer
