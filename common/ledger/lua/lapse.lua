#!lua flags=allow-oom
-- lapse - gives the deposit of an overdue hold back; the hold stays with what it had earned.
--
-- KEYS  state, user, token, holds, due, then the plan when the hold is funded by one
-- ARGV  epoch, run, deadline, request id, user id, token id, plan id
-- Not an end: the worker may still extend or settle. An account that is not live here needs no
-- change: loading it subtracts what the hold then holds, which is nothing.
-- -> ok (also when it is not overdue any more) | ended (no such hold) | mismatch | bounds

local no = fence()
if no then return {no} end

local id = ARGV[4]
local hold = parse_hold(redis.call('HGET', KEYS[4], id))
if not hold then return {'ended'} end
if hold.user ~= integer(ARGV[5]) or hold.token ~= integer(ARGV[6]) or
        hold.plan ~= integer(ARGV[7]) then
    return {'mismatch'}
end
local due = redis.call('ZSCORE', KEYS[5], id)
if hold.lapsed == 1 or (due and tonumber(due) > NOW) then return {'ok'} end

local user, token = live_user(KEYS[2]), live_token(KEYS[3])
local plan = hold.plan ~= 0 and live_plan(KEYS[6])
local source = user
if hold.plan ~= 0 then
    source = plan and plan.period == hold.period and plan or nil
end
if source and not bounded(source.balance + hold.amount) then return {'bounds'} end
if token and not bounded(token.balance + hold.amount) then return {'bounds'} end

if source then
    redis.call('HSET', source.key, source == user and 'quota' or 'remain',
               decimal(source.balance + hold.amount))
end
if token then
    redis.call('HSET', token.key, 'remain', decimal(token.balance + hold.amount))
end
if user and hold.trusted > 0 then
    redis.call('HSET', user.key, 'exposed', decimal(user.exposed - hold.trusted))
end
hold.amount, hold.lapsed, hold.trusted = 0, 1, 0
redis.call('HSET', KEYS[4], id, hold_text(hold))
redis.call('ZREM', KEYS[5], id)
return {'ok'}
