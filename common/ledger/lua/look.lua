#!lua flags=no-writes
-- look - one user's live balance and what open holds keep of the wallet.
--
-- KEYS  state, user, holds
-- ARGV  epoch, run, deadline, user id
-- -> ok QUOTA USED HELD AUTHVER | missing

local no = fence()
if no then return {no} end

local user = live_user(KEYS[2])
if not user then return {'missing'} end
local user_id, held = integer(ARGV[4]), 0
local holds = redis.call('HGETALL', KEYS[3])
for i = 2, #holds, 2 do
    local hold = parse_hold(holds[i])
    if hold.user == user_id and hold.plan == 0 then held = held + hold.amount end
end
return {'ok', decimal(user.balance), decimal(user.used), decimal(held), decimal(user.authver)}
