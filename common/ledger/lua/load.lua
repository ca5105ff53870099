#!lua flags=allow-oom
-- load - fills what is missing of an account from MySQL's balance minus the open holds here.
--
-- KEYS  state, holds, then as many of user, token, plan as are given
-- ARGV  epoch (of the same read as the balances), run, deadline,
--       user id, quota, authver,  token id, remain, unlimited,  plan id, remain, period
--       (id 0: not given)
-- Never overwrites a live hash: its balance is newer than what MySQL knows. Runs without free
-- memory: a settle may need it.
-- -> ok
-- @include prologue
-- @include fence
-- @include hold

local next_key = 3
-- The key to fill, nil when the account is not given or lives.
local function wanted(id)
    if id == '0' then return nil end
    local key = KEYS[next_key]
    next_key = next_key + 1
    if call('HGET', key, 'epoch') == ARGV[1] then return nil end
    return key
end
local user, token, plan = wanted(ARGV[4]), wanted(ARGV[7]), wanted(ARGV[10])
if not (user or token or plan) then return {'ok'} end

local quota, remain, plan_remain = tonumber(ARGV[5]), tonumber(ARGV[8]), tonumber(ARGV[11])
local exposed = 0
local holds = call('HGETALL', KEYS[2])
for i = 2, #holds, 2 do
    local hold = parse_hold(holds[i])
    if hold.user == ARGV[4] then
        exposed = exposed + hold.trusted
        if hold.plan == '0' then quota = quota - hold.amount end
    end
    if hold.token == ARGV[7] then remain = remain - hold.amount end
    if hold.plan == ARGV[10] and hold.period == ARGV[12] then
        plan_remain = plan_remain - hold.amount
    end
end
if math.max(math.abs(quota), math.abs(remain), math.abs(plan_remain)) > BOUND then
    return {'bounds'}
end

if user then
    call('DEL', user)
    call('HSET', user, 'epoch', ARGV[1], 'quota', format('%d', quota), 'used', '0',
         'authver', ARGV[6], 'exposed', format('%d', exposed))
end
if token then
    call('DEL', token)
    call('HSET', token, 'epoch', ARGV[1], 'remain', format('%d', remain),
         'unlimited', ARGV[9])
end
if plan then
    call('DEL', plan)
    call('HSET', plan, 'epoch', ARGV[1], 'remain', format('%d', plan_remain),
         'period', ARGV[12])
end
return {'ok'}
