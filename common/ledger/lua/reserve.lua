#!lua
-- reserve - takes the deposit of a new request, or refuses it.
--
-- KEYS  state, user, token, holds, ended, then one per plan of the funding list
-- ARGV  epoch, run, deadline, request id, user id, token id, amount, trust, authver, node, worker,
--       lease in ms, then the funding list in order of preference (plan id, 0 for the wallet)
-- Declares no allow-oom: without memory no new request is taken.
-- -> ok 0 | ok PLAN PERIOD | ended | duplicate | missing | stale | token_short REMAIN |
--    user_short | bounds
-- @include prologue
-- @include fence

local id, amount, trust = ARGV[4], tonumber(ARGV[7]), tonumber(ARGV[8])
if call('ZSCORE', KEYS[5], id) then return {'ended'} end
if amount < 0 or amount > BOUND then return {'bounds'} end

local user = call('HMGET', KEYS[2], 'epoch', 'quota', 'authver', 'exposed')
local token = call('HMGET', KEYS[3], 'epoch', 'remain', 'unlimited')
if user[1] ~= ARGV[1] or token[1] ~= ARGV[1] then return {'missing'} end
local quota, exposed, remain = tonumber(user[2]), tonumber(user[4]), tonumber(token[2])
local unlimited = token[3] == '1'

local refusal
if tonumber(ARGV[9]) < tonumber(user[3]) then
    refusal = {'stale'}
elseif not unlimited and (remain <= 0 or remain < amount) then
    refusal = {'token_short', token[2]}
end

local funding, period, plan_remain, plan_key
local next_key = 6
for i = 13, #ARGV do
    if ARGV[i] == '0' then
        if quota - exposed >= amount then funding = '0' break end
    else
        local plan = call('HMGET', KEYS[next_key], 'epoch', 'remain', 'period')
        if plan[1] ~= ARGV[1] then return {'missing'} end
        plan_remain, period, plan_key = tonumber(plan[2]), plan[3], KEYS[next_key]
        if plan_remain >= amount then funding = ARGV[i] break end
        next_key = next_key + 1
    end
end
if refusal or not funding then
    if call('HEXISTS', KEYS[4], id) == 1 then return {'duplicate'} end
    return refusal or {'user_short'}
end
local wallet = funding == '0'

-- Trusted: no deposit while the free balance stays above what the operator set. A token with a
-- limit always deposits.
local held, trusted = amount, 0
if wallet and trust > 0 and unlimited and amount > 0 and quota - exposed - amount > trust then
    held, trusted = 0, amount
end
if remain - held < -BOUND or exposed + trusted > BOUND then return {'bounds'} end

-- The first write is the one that may find that there is a hold already.
local hold = format('%s %s %s %d 0 0 %s %s %s %d %d', ARGV[5], ARGV[6], funding, held, ARGV[10],
                    ARGV[11], wallet and '0' or period, trusted, NOW + ARGV[12])
if call('HSETNX', KEYS[4], id, hold) == 0 then return {'duplicate'} end
if not wallet then
    call('HSET', plan_key, 'remain', format('%d', plan_remain - held))
elseif trusted > 0 then
    call('HSET', KEYS[2], 'exposed', format('%d', exposed + trusted))
else
    call('HSET', KEYS[2], 'quota', format('%d', quota - held))
end
call('HSET', KEYS[3], 'remain', format('%d', remain - held))
if wallet then return {'ok', funding} end
return {'ok', funding, period}
