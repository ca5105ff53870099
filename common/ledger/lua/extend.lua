#!lua flags=allow-oom
-- extend - renews a hold's lease and raises its deposit to a target.
--
-- KEYS  state, user, token, holds, due, ended, then the plan when the hold is funded by one
-- ARGV  epoch, run, deadline, request id, user id, token id, plan id, target, earned,
--       refuse when short (0, 1), node, worker, lease in ms
-- A hold that was lost or has lapsed is taken again. Without "refuse when short" the difference
-- is taken whatever the balance: the request is running already.
-- -> ok | ended | missing | mismatch | token_short | user_short | bounds

local no = fence()
if no then return {no} end

local id, user_id, token_id, plan_id = ARGV[4], integer(ARGV[5]), integer(ARGV[6]), integer(ARGV[7])
local target, earned = integer(ARGV[8]), integer(ARGV[9])
if redis.call('ZSCORE', KEYS[6], id) then return {'ended'} end
if not target or target < 0 or not earned or earned < 0 then return {'bounds'} end

local user, token = live_user(KEYS[2]), live_token(KEYS[3])
local plan = plan_id ~= 0 and live_plan(KEYS[7])
if not user or not token or plan == nil then return {'missing'} end
local source = plan or user

local hold = parse_hold(redis.call('HGET', KEYS[4], id))
if hold and (hold.user ~= user_id or hold.token ~= token_id or hold.plan ~= plan_id) then
    return {'mismatch'}
end
if not hold or hold.lapsed == 1 then
    hold = {user = user_id, token = token_id, plan = plan_id, amount = 0,
            period = plan and plan.period or 0, trusted = 0}
end
-- A trusted hold becomes an ordinary one: its estimate no longer counts as exposed.
local more = math.max(target - hold.amount, 0)
local exposed = user.exposed - hold.trusted
if ARGV[10] == '1' and more > 0 then
    if not token.unlimited and token.balance < more then return {'token_short'} end
    if source.balance - (plan and 0 or exposed) < more then return {'user_short'} end
end
local left, token_left = source.balance - more, token.balance - more
if not (bounded(left) and bounded(token_left)) then return {'bounds'} end

if hold.trusted > 0 then redis.call('HSET', user.key, 'exposed', decimal(exposed)) end
if more > 0 then
    redis.call('HSET', source.key, plan and 'remain' or 'quota', decimal(left))
    redis.call('HSET', token.key, 'remain', decimal(token_left))
end
hold.amount, hold.earned, hold.lapsed, hold.trusted = hold.amount + more, earned, 0, 0
hold.node, hold.worker = ARGV[11], integer(ARGV[12])
redis.call('HSET', KEYS[4], id, hold_text(hold))
redis.call('ZADD', KEYS[5], decimal(NOW + integer(ARGV[13])), id)
return {'ok'}
