#!lua flags=allow-oom
-- begin - first step of a rebuild: a larger epoch, and off.
--
-- KEYS  state
-- ARGV  the new epoch, run, deadline
-- -> ok | fenced (an equal or larger epoch is there: another rebuild was later)

if NOW > tonumber(ARGV[3]) then return {'late'} end
local epoch = integer(redis.call('HGET', KEYS[1], 'epoch'))
if epoch and epoch >= integer(ARGV[1]) then return {'fenced'} end
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'run', ARGV[2], 'on', '0')
return {'ok'}
