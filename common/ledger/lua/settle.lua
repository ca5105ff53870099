#!lua flags=allow-oom
-- settle - the one way money moves for good: charge, refund, expired, credit, adjust.
--
-- KEYS  state, user, holds, ended, journal, then token and plan as far as given
-- ARGV  epoch, run, deadline, entry id, kind, user id, token id, plan id, amount, channel id,
--       token delta, token unlimited (0, 1, -1: leave it), authver (0: leave it), record,
--       the plan's period when the deposit was taken (of no weight while there is a hold)
-- A lost hold counts as 0, a lapsed one holds 0. Never refused for lack of money. A charge that
-- would leave the bounds is cut to what fits (answered as "clamped"); money coming in is refused.
-- A hold names its funding: when it is another plan than the caller's (whose reserve's answer was
-- lost), "plan ID" tells which key to declare.
-- -> ok | clamped | ended | missing | plan ID | mismatch | bounds
-- @include prologue
-- @include fence

local id, kind, token_id, plan_id = ARGV[4], ARGV[5], ARGV[7], ARGV[8]
local amount, delta, authver = tonumber(ARGV[9]), tonumber(ARGV[11]), tonumber(ARGV[13])
if amount < -BOUND or amount > BOUND or delta < -BOUND or delta > BOUND then return {'bounds'} end

local back, trusted, period, lapsed = 0, 0, ARGV[15], '1'
local hold = call('HGET', KEYS[3], id)
if not hold and call('ZSCORE', KEYS[4], id) then return {'ended'} end
if hold then -- what has a hold has no end: whoever sets the one takes the other away
    local held_user, held_token, held_plan, held, gone, of, estimate =
        match(hold, '^(%d+) (%d+) (%d+) (%d+) %S+ (%S+) %S+ %S+ (%d+) (%d+)')
    if held_user ~= ARGV[6] or held_token ~= token_id then return {'mismatch'} end
    if held_plan ~= plan_id then return {'plan', held_plan} end
    back, trusted, lapsed, period = tonumber(held), tonumber(estimate), gone, of
end

local user = call('HMGET', KEYS[2], 'epoch', 'quota', 'used')
if user[1] ~= ARGV[1] then return {'missing'} end
local balance, remain, over = tonumber(user[2]), nil, false
if token_id ~= '0' then
    local token = call('HMGET', KEYS[6], 'epoch', 'remain')
    if token[1] ~= ARGV[1] then return {'missing'} end
    remain = tonumber(token[2]) + delta
end
if plan_id ~= '0' then
    local plan = call('HMGET', KEYS[#KEYS], 'epoch', 'remain', 'period')
    if plan[1] ~= ARGV[1] then return {'missing'} end
    balance, over = tonumber(plan[2]), period and period ~= plan[3]
    period = period or plan[3]
end

local room = math.max(0, BOUND + back + math.min(balance, remain or balance))
local clamped = amount > room
if clamped then amount = room end
-- The deposit of a period that is over went with it, and so did one that is lost or has lapsed:
-- only what the bill exceeds a deposit by is charged to the running period.
local out, left = amount, balance + back - amount
if over then
    out = lapsed == '0' and math.max(amount - back, 0) or 0
    left = balance - out
end
if remain then remain = remain + back - amount end
if left > BOUND or left < -BOUND then return {'bounds'} end
if remain and (remain > BOUND or remain < -BOUND) then return {'bounds'} end

local used = tonumber(user[3])
if kind ~= 'credit' and kind ~= 'adjust' then used = math.min(used + amount, BOUND) end
if plan_id == '0' then
    call('HSET', KEYS[2], 'quota', format('%d', left), 'used', format('%d', used))
else
    call('HSET', KEYS[#KEYS], 'remain', format('%d', left))
    call('HSET', KEYS[2], 'used', format('%d', used))
end
if authver > 0 and authver > tonumber(call('HGET', KEYS[2], 'authver')) then
    call('HSET', KEYS[2], 'authver', ARGV[13])
end
if trusted > 0 then call('HINCRBY', KEYS[2], 'exposed', format('%d', -trusted)) end
if remain then call('HSET', KEYS[6], 'remain', format('%d', remain)) end
if remain and ARGV[12] ~= '-1' then call('HSET', KEYS[6], 'unlimited', ARGV[12]) end
if hold then call('HDEL', KEYS[3], id) end

local charged, at = format('%d', amount), nil
if kind == 'adjust' then
    at = call('XADD', KEYS[5], '*', 'i', id, 'k', kind, 'u', ARGV[6], 't', token_id,
              'p', plan_id, 'a', charged, 'c', ARGV[10], 'd', ARGV[11], 'n', ARGV[12],
              'v', ARGV[13], 'r', ARGV[14])
elseif plan_id ~= '0' then
    at = call('XADD', KEYS[5], '*', 'i', id, 'k', kind, 'u', ARGV[6], 't', token_id,
              'p', plan_id, 'a', charged, 'm', format('%d', out), 'e', period, 'c', ARGV[10],
              'r', ARGV[14])
else
    at = call('XADD', KEYS[5], '*', 'i', id, 'k', kind, 'u', ARGV[6], 't', token_id,
              'p', plan_id, 'a', charged, 'c', ARGV[10], 'r', ARGV[14])
end
-- The marker carries the time of its journal entry, so that trim knows whether it was applied.
call('ZADD', KEYS[4], match(at, '^%d+'), id)
return {clamped and 'clamped' or 'ok'}
