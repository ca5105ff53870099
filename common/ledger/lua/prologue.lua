-- prologue - stands in front of every script (after its shebang line).
--
-- KEYS[1] is the shard's state. ARGV[1..3]: the caller's epoch, the run id of the server it is
-- connected to, the deadline in server milliseconds. Every script answers {word, ...}:
--   late        the deadline has passed: a command that was stuck on its way does not run
--   rebuilding  the shard is off, or of another epoch, or this server is not the recorded one
--   missing     an account is not here, or of an older epoch: load it, repeat
--   bounds      an amount or a balance would leave +-9e15, where doubles are exact
-- Everything is validated before the first write: an error in the middle is not rolled back.

local BOUND = 9e15

-- The integer that a text stands for; nil when it is none or out of bounds.
local function integer(text)
    if not text or not string.match(text, '^%-?%d+$') then return nil end
    local n = tonumber(text)
    if n > BOUND or n < -BOUND then return nil end
    return n
end

-- tostring and .. lose digits from 1e14 on.
local function decimal(n) return string.format('%.0f', n + 0) end

local function bounded(n) return n <= BOUND and n >= -BOUND end

-- A counter for people; it stops at the bound instead of refusing the money beside it.
local function saturated(n) return math.max(-BOUND, math.min(BOUND, n)) end

local function now_ms()
    local time = redis.call('TIME')
    return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local NOW = now_ms()

-- The word to answer when the script may not run; nil when it may.
local function fence()
    if NOW > tonumber(ARGV[3]) then return 'late' end
    local state = redis.call('HMGET', KEYS[1], 'epoch', 'run', 'on')
    if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] or state[3] ~= '1' then return 'rebuilding' end
    return nil
end

-- Accounts: hashes that are alive only in the epoch they name.

local function live_user(key)
    local h = redis.call('HMGET', key, 'epoch', 'quota', 'used', 'authver', 'exposed')
    if h[1] ~= ARGV[1] then return nil end
    return {key = key, balance = integer(h[2]), used = integer(h[3]), authver = integer(h[4]),
            exposed = integer(h[5])}
end

local function live_token(key)
    local h = redis.call('HMGET', key, 'epoch', 'remain', 'used', 'unlimited')
    if h[1] ~= ARGV[1] then return nil end
    return {key = key, balance = integer(h[2]), used = integer(h[3]), unlimited = h[4] == '1'}
end

local function live_plan(key)
    local h = redis.call('HMGET', key, 'epoch', 'remain', 'period')
    if h[1] ~= ARGV[1] then return nil end
    return {key = key, balance = integer(h[2]), period = integer(h[3])}
end

-- A hold: one text of ten words in the hash `holds`; `period` is the plan's when the deposit was
-- taken, `trusted` an estimate counted in the user's `exposed` instead of a deposit.
local HOLD = {'user', 'token', 'plan', 'amount', 'earned', 'lapsed', 'node', 'worker', 'period',
              'trusted'}

local function parse_hold(text)
    if not text then return nil end
    local hold, i = {}, 1
    for word in string.gmatch(text, '%S+') do
        hold[HOLD[i]] = HOLD[i] == 'node' and word or integer(word)
        i = i + 1
    end
    return hold
end

local function hold_text(hold)
    local words = {}
    for i, name in ipairs(HOLD) do
        words[i] = name == 'node' and hold.node or decimal(hold[name])
    end
    return table.concat(words, ' ')
end
