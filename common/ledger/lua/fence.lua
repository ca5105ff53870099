local state = call('HMGET', KEYS[1], 'epoch', 'run', 'on')
if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] or state[3] ~= '1' then return {'rebuilding'} end
