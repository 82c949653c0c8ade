-- Begins a script that is called for one key.
--
-- KEYS[1]  the limiter's key
-- ARGV[1]  its numbers: see `shared/time.lua`
--
-- The reply is that of the key.
local key, numbers = KEYS[1], ARGV[1]
local call, floor, time = redis.call, math.floor, nil
