#!lua
-- fill - keeps a credential that was read from MySQL, unless a change of it is under way.
--
-- KEYS  entry, fence
-- ARGV  the credential as JSON, its life in ms, deadline in server ms: what was read longer ago
--       than a fence lasts may be older than a change that the fence has forgotten
-- -> 1 kept, 0 not kept

local time = redis.call('TIME')
if tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) > tonumber(ARGV[3]) then
    return 0
end
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
