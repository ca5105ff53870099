#!lua flags=allow-oom
-- finish - last step of a rebuild: holds whose request has its end go, and on.
--
-- KEYS  state, holds
-- ARGV  epoch, run, deadline, the request ids (16 bytes each, in one text) that MySQL knows an
--       end of
-- Repeating it changes nothing: on with this epoch can only be this rebuild's own doing.
-- -> ok | fenced (the shard is of another epoch or server)
-- @include prologue

local state = call('HMGET', KEYS[1], 'epoch', 'run', 'on')
if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] then return {'fenced'} end
if state[3] == '1' then return {'ok'} end
for i = 1, #ARGV[4], 16 do
    call('HDEL', KEYS[2], string.sub(ARGV[4], i, i + 15))
end
call('HSET', KEYS[1], 'on', '1')
return {'ok'}
