#!lua flags=allow-oom
-- extend - renews a hold's lease and raises its deposit to a target.
--
-- KEYS  state, user, token, holds, ended, then the plan when the hold is funded by one
-- ARGV  epoch, run, deadline, request id, user id, token id, plan id, target, earned,
--       refuse when short (0, 1), node, worker, lease in ms, the plan's period when the deposit
--       was taken
-- A hold that was lost or has lapsed is taken again. One of a period that is over stays as it is:
-- its deposit went with its period, and the running one is not charged for it. Without "refuse when
-- short" the difference is taken whatever the balance: the request is running already.
-- -> ok | ended | missing | mismatch | token_short | user_short | bounds
-- @include prologue
-- @include fence
-- @include hold

local id, target, earned = ARGV[4], tonumber(ARGV[8]), tonumber(ARGV[9])
if call('ZSCORE', KEYS[5], id) then return {'ended'} end
if target < 0 or target > BOUND or earned < 0 or earned > BOUND then return {'bounds'} end

local user = call('HMGET', KEYS[2], 'epoch', 'quota', 'exposed')
local token = call('HMGET', KEYS[3], 'epoch', 'remain', 'unlimited')
if user[1] ~= ARGV[1] or token[1] ~= ARGV[1] then return {'missing'} end
local source, field, balance, period = KEYS[2], 'quota', tonumber(user[2]), '0'
local exposed, remain = tonumber(user[3]), tonumber(token[2])
if ARGV[7] ~= '0' then
    local plan = call('HMGET', KEYS[6], 'epoch', 'remain', 'period')
    if plan[1] ~= ARGV[1] then return {'missing'} end
    source, field, balance, period = KEYS[6], 'remain', tonumber(plan[2]), plan[3]
end

local text = call('HGET', KEYS[4], id)
local hold = text and parse_hold(text)
if hold and (hold.user ~= ARGV[5] or hold.token ~= ARGV[6] or hold.plan ~= ARGV[7]) then
    return {'mismatch'}
end
local of = hold and hold.period or ARGV[14] or period
if of ~= period then
    if ARGV[10] == '1' and target > (hold and hold.amount or 0) then
        local more = target - (hold and hold.amount or 0)
        if token[3] ~= '1' and remain < more then return {'token_short'} end
        if balance < more then return {'user_short'} end
    end
    hold = hold or {user = ARGV[5], token = ARGV[6], plan = ARGV[7], amount = 0, lapsed = true,
                    period = of, trusted = 0}
    hold.earned, hold.node, hold.worker, hold.due = earned, ARGV[11], ARGV[12], NOW + ARGV[13]
    call('HSET', KEYS[4], id, hold_text(hold))
    return {'ok'}
end
if not hold or hold.lapsed then
    hold = {user = ARGV[5], token = ARGV[6], plan = ARGV[7], amount = 0, period = period,
            trusted = 0}
end
-- A trusted hold becomes an ordinary one: its estimate no longer counts as exposed.
exposed = exposed - hold.trusted
local more = math.max(target - hold.amount, 0)
if ARGV[10] == '1' and more > 0 then
    if token[3] ~= '1' and remain < more then return {'token_short'} end
    if balance - (ARGV[7] == '0' and exposed or 0) < more then return {'user_short'} end
end
if balance - more < -BOUND or remain - more < -BOUND then return {'bounds'} end

if hold.trusted > 0 then call('HSET', KEYS[2], 'exposed', format('%d', exposed)) end
if more > 0 then
    call('HSET', source, field, format('%d', balance - more))
    call('HSET', KEYS[3], 'remain', format('%d', remain - more))
end
hold.amount, hold.earned, hold.lapsed, hold.trusted = hold.amount + more, earned, false, 0
hold.node, hold.worker, hold.due = ARGV[11], ARGV[12], NOW + ARGV[13]
call('HSET', KEYS[4], id, hold_text(hold))
return {'ok'}
