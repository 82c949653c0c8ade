-- Begins a script that is called for many keys, one after the other; `shared/together_end.lua` ends it.
--
-- KEYS  limiters' keys, perhaps the same one several times
-- ARGV  the numbers of each: see `shared/time.lua`
--
-- Reply: those of the keys, in their order. An error of one key is a table with its text, since an error in a list would hide the others. The
-- server's clock is read once, so that all are decided at one instant.
local call, floor, time = redis.call, math.floor, nil
local function decide(key, numbers)
