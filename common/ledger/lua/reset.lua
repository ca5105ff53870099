#!lua flags=allow-oom
-- reset - a plan's next period: what is left of the old one goes, the quota of the new one comes.
--
-- KEYS  state, plan, holds, ended, journal
-- ARGV  epoch, run, deadline, entry id, user id, plan id, quota of the period that begins, its
--       number, record
-- Debt stays. Deposits of the old period go with it: what its holds keep is in no balance from here
-- on, and the entry takes it out of the books as well. A period that the plan has passed already
-- moves nothing, but has its entry.
-- -> ok | ended | missing | bounds
-- @include prologue
-- @include fence
-- @include hold

local id, plan_id, quota, period = ARGV[4], ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])
if call('ZSCORE', KEYS[4], id) then return {'ended'} end
local plan = call('HMGET', KEYS[2], 'epoch', 'remain', 'period')
if plan[1] ~= ARGV[1] then return {'missing'} end
if quota < 0 or quota > BOUND then return {'bounds'} end

local remain, out, left = tonumber(plan[2]), 0, nil
if period > tonumber(plan[3]) then
    local held, holds = 0, call('HGETALL', KEYS[3])
    for i = 2, #holds, 2 do
        local hold = parse_hold(holds[i])
        if hold.plan == plan_id and hold.period == plan[3] then held = held + hold.amount end
    end
    left = quota + math.min(remain, 0)
    out = remain + held - left
    if math.abs(left) > BOUND or math.abs(out) > BOUND then return {'bounds'} end
    call('HSET', KEYS[2], 'remain', format('%d', left), 'period', ARGV[8])
end

out = format('%d', out)
local at = call('XADD', KEYS[5], '*', 'i', id, 'k', 'reset', 'u', ARGV[5], 't', '0', 'p', plan_id,
                'a', out, 'm', out, 'e', ARGV[8], 'c', '0', 'r', ARGV[9])
call('ZADD', KEYS[4], match(at, '^%d+'), id)
return {'ok'}
