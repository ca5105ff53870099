#!lua flags=allow-oom
-- settle - the one way money moves for good: charge, refund, expired, credit, adjust.
--
-- KEYS  state, user, holds, due, ended, journal, then token and plan as far as given
-- ARGV  epoch, run, deadline, entry id, kind, user id, token id, plan id, amount, channel id,
--       token delta, token unlimited (0, 1, -1: leave it), authver (0: leave it), record
-- A lost hold counts as 0, a lapsed one holds 0. Never refused for lack of money. A charge that
-- would leave the bounds is cut to what fits (answered as "clamped"); money coming in is refused.
-- A hold names its funding: when it is another plan than the caller's (whose reserve's answer was
-- lost), "plan ID" tells which key to declare.
-- -> ok | clamped | ended | missing | plan ID | mismatch | bounds

local no = fence()
if no then return {no} end

local id, kind, amount, delta = ARGV[4], ARGV[5], integer(ARGV[9]), integer(ARGV[11])
local user_id, token_id, plan_id = integer(ARGV[6]), integer(ARGV[7]), integer(ARGV[8])
local authver = integer(ARGV[13])
if redis.call('ZSCORE', KEYS[5], id) then return {'ended'} end
if not amount or not delta or not authver then return {'bounds'} end

local hold = parse_hold(redis.call('HGET', KEYS[3], id))
if hold and (hold.user ~= user_id or hold.token ~= token_id) then return {'mismatch'} end
if hold and hold.plan ~= plan_id then return {'plan', decimal(hold.plan)} end

local user = live_user(KEYS[2])
local token = token_id ~= 0 and live_token(KEYS[7])
local plan = plan_id ~= 0 and live_plan(KEYS[#KEYS])
if user == nil or token == nil or plan == nil then return {'missing'} end

local back = hold and hold.amount or 0
local clamped = false
if amount > 0 then
    local room = (plan or user).balance + back + BOUND
    if token then room = math.min(room, token.balance + back + delta + BOUND) end
    clamped = amount > room
    amount = math.min(amount, math.max(room, 0))
end
-- The deposit of a period that has ended went with it: only what the bill exceeds it by is
-- charged to the running one.
local moved = back - amount
if plan and hold and hold.period ~= plan.period then moved = math.min(moved, 0) end
local left = (plan or user).balance + moved
local token_left = token and token.balance + back - amount + delta or 0
if not (bounded(left) and bounded(token_left)) then return {'bounds'} end
local spent = (kind == 'credit' or kind == 'adjust') and 0 or amount

if plan then redis.call('HSET', plan.key, 'remain', decimal(left)) end
redis.call('HSET', user.key,
           'quota', decimal(plan and user.balance or left),
           'used', decimal(saturated(user.used + spent)),
           'authver', decimal(math.max(user.authver, authver)),
           'exposed', decimal(user.exposed - (hold and hold.trusted or 0)))
if token then
    redis.call('HSET', token.key, 'remain', decimal(token_left),
               'used', decimal(saturated(token.used + spent)))
    if ARGV[12] ~= '-1' then redis.call('HSET', token.key, 'unlimited', ARGV[12]) end
end
if hold then
    redis.call('HDEL', KEYS[3], id)
    redis.call('ZREM', KEYS[4], id)
end
local fields = {'i', id, 'k', kind, 'u', ARGV[6], 't', ARGV[7], 'p', ARGV[8],
                'a', decimal(amount), 'c', ARGV[10]}
local function field(name, value)
    fields[#fields + 1] = name
    fields[#fields + 1] = value
end
if kind == 'adjust' then
    field('d', ARGV[11])
    field('n', ARGV[12])
    field('v', ARGV[13])
end
if ARGV[14] ~= '' then field('r', ARGV[14]) end
local at = redis.call('XADD', KEYS[6], '*', unpack(fields))
-- The marker carries the time of its journal entry, so that trim knows whether it was applied.
redis.call('ZADD', KEYS[5], string.match(at, '^%d+'), id)
return {clamped and 'clamped' or 'ok'}
