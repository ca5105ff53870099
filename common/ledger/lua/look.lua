#!lua flags=no-writes
-- look - one user's live balance and what open holds keep of the wallet.
--
-- KEYS  state, user, holds
-- ARGV  epoch, run, deadline, user id
-- -> ok QUOTA USED HELD AUTHVER | missing
-- @include prologue
-- @include fence
-- @include hold

local user = call('HMGET', KEYS[2], 'epoch', 'quota', 'used', 'authver')
if user[1] ~= ARGV[1] then return {'missing'} end
local held = 0
local holds = call('HGETALL', KEYS[3])
for i = 2, #holds, 2 do
    local hold = parse_hold(holds[i])
    if hold.user == ARGV[4] and hold.plan == '0' then held = held + hold.amount end
end
return {'ok', user[2], user[3], format('%d', held), user[4]}
