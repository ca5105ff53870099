#!lua flags=allow-oom
-- trim - drops journal entries and end markers that are applied and old enough.
--
-- KEYS  state, journal, ended
-- ARGV  epoch, run, deadline, cursor (last entry applied), keep entries for ms, keep markers for ms
-- A marker's score is its entry's time, so one below the cursor's time has been applied.
-- -> ok
-- @include prologue
-- @include fence

local ms, sequence = match(ARGV[4], '^(%d+)%-(%d+)$')
local cursor_ms = tonumber(ms)
local entries_before, markers_before = NOW - ARGV[5], NOW - ARGV[6]
if cursor_ms >= entries_before then
    call('XTRIM', KEYS[2], 'MINID', format('%d', math.max(entries_before, 0)))
else
    call('XTRIM', KEYS[2], 'MINID', format('%s-%d', ms, sequence + 1))
end
call('ZREMRANGEBYSCORE', KEYS[3], '-inf',
     format('(%d', math.min(cursor_ms, markers_before)))
return {'ok'}
