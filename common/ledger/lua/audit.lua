#!lua flags=no-writes
-- audit - one moment of a shard: balances, what holds keep, what the books do not have yet.
--
-- KEYS  state, holds, journal, then the accounts: user, token and sub hashes in any order
-- ARGV  epoch, run, deadline, cursor (what the books have), most entries to look at
-- -> ok FIRST LAST WAITING {balance or "" for each account} {account, held, account, held, ...}
--       {account, pending, ...}
--    FIRST and LAST: ids of the oldest entry there is and of the last one ever added, "0-0" for
--    none; WAITING: how many are behind the cursor; an account is "u1", "t11" or "p5"; pending is
--    what these entries take out of it
-- -> behind (more entries than asked for wait)
-- @include prologue
-- @include fence
-- @include hold

local balances, periods = {}, {}
for i = 4, #KEYS do
    local field = match(KEYS[i], '}:user:') and 'quota' or 'remain'
    local account = call('HMGET', KEYS[i], 'epoch', field, 'period')
    balances[#balances + 1] = account[1] == ARGV[1] and account[2] or ''
    if account[3] then periods[match(KEYS[i], '(%d+)$')] = account[3] end
end

local function add(sums, account, amount)
    sums[account] = (sums[account] or 0) + amount
end

local function flat(sums)
    local list = {}
    for account, amount in pairs(sums) do
        list[#list + 1] = account
        list[#list + 1] = format('%d', amount)
    end
    return list
end

local function add_all(sums, user, token, plan, amount, token_amount, plan_amount)
    if plan ~= '0' then add(sums, 'p' .. plan, plan_amount) else add(sums, 'u' .. user, amount) end
    if token ~= '0' then add(sums, 't' .. token, token_amount) end
end

local held, holds = {}, call('HGETALL', KEYS[2])
for i = 2, #holds, 2 do
    local hold = parse_hold(holds[i])
    -- the deposit of a period that is over went with it
    add_all(held, hold.user, hold.token, hold.plan, hold.amount, hold.amount,
            hold.period == periods[hold.plan] and hold.amount or 0)
end

local pending = {}
local entries = call('XRANGE', KEYS[3], '(' .. ARGV[4], '+', 'COUNT', ARGV[5])
if #entries >= tonumber(ARGV[5]) then return {'behind'} end
for _, entry in ipairs(entries) do
    local f = {}
    for i = 1, #entry[2], 2 do f[entry[2][i]] = entry[2][i + 1] end
    local amount = tonumber(f.a) or 0
    add_all(pending, f.u or '0', f.t or '0', f.p or '0', amount, amount - (tonumber(f.d) or 0),
            tonumber(f.m) or amount)
end

local first, last = '0-0', '0-0'
if call('EXISTS', KEYS[3]) == 1 then
    local info = call('XINFO', 'STREAM', KEYS[3])
    for i = 1, #info, 2 do
        if info[i] == 'last-generated-id' then last = info[i + 1] end
        if info[i] == 'first-entry' and info[i + 1] then first = info[i + 1][1] end
    end
end
return {'ok', first, last, format('%d', #entries), balances, flat(held), flat(pending)}
