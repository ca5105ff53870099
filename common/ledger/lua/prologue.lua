-- prologue - stands at the head of every script.
--
-- KEYS[1] is the shard's state. ARGV[1..3]: the caller's epoch, the run id of the server it is
-- connected to, the deadline in server milliseconds. Every script answers {word, ...}:
--   late        the deadline has passed: a command that was stuck on its way does not run
--   rebuilding  the shard is off, or of another epoch, or this server is not the recorded one
--   missing     an account is not here, or of an older epoch: load it, repeat
--   bounds      an amount or a balance would leave +-9e15, where doubles are exact
-- Everything is validated before the first write: an error in the middle is not rolled back.
-- Numbers become text by '%d' only: tostring and .. lose digits from 1e14 on, and within the bounds
-- it says what '%.0f' says in a third of the time.

local BOUND = 9e15
local call, format, match, tonumber = redis.call, string.format, string.match, tonumber
local time = call('TIME')
local NOW = time[1] * 1000 + math.floor(time[2] / 1000)
if NOW > tonumber(ARGV[3]) then return {'late'} end
