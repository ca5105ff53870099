#!lua flags=allow-oom
-- begin - first step of a rebuild: a larger epoch, and off.
--
-- KEYS  state
-- ARGV  the new epoch, run, deadline
-- -> ok | fenced (an equal or larger epoch is there: another rebuild was later)
-- @include prologue

local epoch = call('HGET', KEYS[1], 'epoch')
if epoch and tonumber(epoch) >= tonumber(ARGV[1]) then return {'fenced'} end
call('HSET', KEYS[1], 'epoch', ARGV[1], 'run', ARGV[2], 'on', '0')
return {'ok'}
