#!lua
-- reserve - takes the deposit of a new request, or refuses it.
--
-- KEYS  state, user, token, holds, due, ended, then one per plan of the funding list
-- ARGV  epoch, run, deadline, request id, user id, token id, amount, trust, authver, node, worker,
--       lease in ms, then the funding list in order of preference (plan id, 0 for the wallet)
-- Declares no allow-oom: without memory no new request is taken.
-- -> ok PLAN | ended | duplicate | missing | stale | token_short REMAIN | user_short | bounds

local no = fence()
if no then return {no} end

local id, amount, trust = ARGV[4], integer(ARGV[7]), integer(ARGV[8])
if redis.call('ZSCORE', KEYS[6], id) then return {'ended'} end
if redis.call('HEXISTS', KEYS[4], id) == 1 then return {'duplicate'} end
if not amount or amount < 0 then return {'bounds'} end

local user, token = live_user(KEYS[2]), live_token(KEYS[3])
if not user or not token then return {'missing'} end
local plans = {}
for i = 7, #KEYS do
    local plan = live_plan(KEYS[i])
    if not plan then return {'missing'} end
    plans[#plans + 1] = plan
end

if integer(ARGV[9]) < user.authver then return {'stale'} end
if not token.unlimited and (token.balance <= 0 or token.balance < amount) then
    return {'token_short', decimal(token.balance)}
end

local hold = {user = integer(ARGV[5]), token = integer(ARGV[6]), plan = 0, amount = amount,
              earned = 0, lapsed = 0, node = ARGV[10], worker = integer(ARGV[11]), period = 0,
              trusted = 0}
local source, next_plan = nil, 1
for i = 13, #ARGV do
    local free
    if ARGV[i] == '0' then
        source, free = user, user.balance - user.exposed
    else
        source = plans[next_plan]
        next_plan = next_plan + 1
        free = source.balance
    end
    if free >= amount then
        hold.plan = integer(ARGV[i])
        hold.period = source.period or 0
        break
    end
    source = nil
end
if not source then return {'user_short'} end

-- Trusted: no deposit while the free balance stays above what the operator set. A token with a
-- limit always deposits.
if source == user and trust > 0 and token.unlimited and amount > 0 and
        user.balance - user.exposed - amount > trust then
    hold.amount, hold.trusted = 0, amount
end
local left, token_left = source.balance - hold.amount, token.balance - hold.amount
local exposed = user.exposed + hold.trusted
if not (bounded(left) and bounded(token_left) and bounded(exposed)) then return {'bounds'} end

redis.call('HSET', source.key, source == user and 'quota' or 'remain', decimal(left))
if hold.trusted > 0 then redis.call('HSET', user.key, 'exposed', decimal(exposed)) end
redis.call('HSET', token.key, 'remain', decimal(token_left))
redis.call('HSET', KEYS[4], id, hold_text(hold))
redis.call('ZADD', KEYS[5], decimal(NOW + integer(ARGV[12])), id)
return {'ok', decimal(hold.plan)}
