#!lua flags=allow-oom
-- trim - drops journal entries and end markers that are applied and old enough.
--
-- KEYS  state, journal, ended
-- ARGV  epoch, run, deadline, cursor (last entry applied), keep entries for ms, keep markers for ms
-- A marker's score is its entry's time, so one below the cursor's time has been applied.
-- -> ok

local no = fence()
if no then return {no} end

local cursor_ms, cursor_seq = string.match(ARGV[4], '^(%d+)%-(%d+)$')
local entries_before, markers_before = NOW - integer(ARGV[5]), NOW - integer(ARGV[6])
if tonumber(cursor_ms) >= entries_before then
    redis.call('XTRIM', KEYS[2], 'MINID', decimal(math.max(entries_before, 0)))
else
    redis.call('XTRIM', KEYS[2], 'MINID',
               cursor_ms .. '-' .. decimal(tonumber(cursor_seq) + 1))
end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf',
           '(' .. decimal(math.min(tonumber(cursor_ms), markers_before)))
return {'ok'}
