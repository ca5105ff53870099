#!lua flags=allow-oom
-- lapse - gives the deposit of an overdue hold back; the hold stays with what it had earned.
--
-- KEYS  state, user, token, holds, then the plan when the hold is funded by one
-- ARGV  epoch, run, deadline, request id, user id, token id, plan id
-- Not an end: the worker may still extend or settle. An account that is not live here needs no
-- change: loading it subtracts what the hold then holds, which is nothing.
-- -> ok (also when it is not overdue any more) | ended (no such hold) | mismatch | bounds
-- @include prologue
-- @include fence
-- @include hold

local text = call('HGET', KEYS[4], ARGV[4])
if not text then return {'ended'} end
local hold = parse_hold(text)
if hold.user ~= ARGV[5] or hold.token ~= ARGV[6] or hold.plan ~= ARGV[7] then
    return {'mismatch'}
end
if hold.lapsed or hold.due > NOW then return {'ok'} end

local user = call('HMGET', KEYS[2], 'epoch', 'quota', 'exposed')
local token = call('HMGET', KEYS[3], 'epoch', 'remain')
local user_lives, token_lives = user[1] == ARGV[1], token[1] == ARGV[1]
local source, field, balance
if hold.plan ~= '0' then
    local plan = call('HMGET', KEYS[5], 'epoch', 'remain', 'period')
    if plan[1] == ARGV[1] and plan[3] == hold.period then
        source, field, balance = KEYS[5], 'remain', tonumber(plan[2]) + hold.amount
    end
elseif user_lives then
    source, field, balance = KEYS[2], 'quota', tonumber(user[2]) + hold.amount
end
local remain = token_lives and tonumber(token[2]) + hold.amount or 0
if source and balance > BOUND or remain > BOUND then return {'bounds'} end

if source then call('HSET', source, field, format('%d', balance)) end
if token_lives then call('HSET', KEYS[3], 'remain', format('%d', remain)) end
if user_lives and hold.trusted > 0 then
    call('HSET', KEYS[2], 'exposed', format('%d', tonumber(user[3]) - hold.trusted))
end
hold.amount, hold.lapsed, hold.trusted, hold.due = 0, true, 0, 0
call('HSET', KEYS[4], ARGV[4], hold_text(hold))
return {'ok'}
