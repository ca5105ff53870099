#!lua
-- load - fills what is missing of an account from MySQL's balance minus the open holds here.
--
-- KEYS  state, holds, then as many of user, token, plan as are given
-- ARGV  epoch (of the same read as the balances), run, deadline,
--       user id, quota, authver,  token id, remain, unlimited,  plan id, remain, period
--       (id 0: not given)
-- Never overwrites a live hash: its balance is newer than what MySQL knows.
-- -> ok

local no = fence()
if no then return {no} end

local user_id, token_id, plan_id = integer(ARGV[4]), integer(ARGV[7]), integer(ARGV[10])
local period = integer(ARGV[12])
local next_key = 3
local function given(id, live)
    if id == 0 then return nil end
    local key = KEYS[next_key]
    next_key = next_key + 1
    if live(key) then return nil end
    return key
end
local user = given(user_id, live_user)
local token = given(token_id, live_token)
local plan = given(plan_id, live_plan)
if not (user or token or plan) then return {'ok'} end

local quota, remain, plan_remain = integer(ARGV[5]), integer(ARGV[8]), integer(ARGV[11])
local exposed = 0
if not (quota and remain and plan_remain and period) then return {'bounds'} end
local holds = redis.call('HGETALL', KEYS[2])
for i = 2, #holds, 2 do
    local hold = parse_hold(holds[i])
    if hold.user == user_id then
        exposed = exposed + hold.trusted
        if hold.plan == 0 then quota = quota - hold.amount end
    end
    if hold.token == token_id then remain = remain - hold.amount end
    if hold.plan == plan_id and hold.period == period then
        plan_remain = plan_remain - hold.amount
    end
end
if not (bounded(quota) and bounded(remain) and bounded(plan_remain)) then return {'bounds'} end

if user then
    redis.call('DEL', user)
    redis.call('HSET', user, 'epoch', ARGV[1], 'quota', decimal(quota), 'used', '0',
               'authver', ARGV[6], 'exposed', decimal(exposed))
end
if token then
    redis.call('DEL', token)
    redis.call('HSET', token, 'epoch', ARGV[1], 'remain', decimal(remain), 'used', '0',
               'unlimited', ARGV[9])
end
if plan then
    redis.call('DEL', plan)
    redis.call('HSET', plan, 'epoch', ARGV[1], 'remain', decimal(plan_remain), 'period', ARGV[12])
end
return {'ok'}
