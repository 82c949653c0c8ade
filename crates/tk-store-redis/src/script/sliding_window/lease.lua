-- Sliding window: charges as much of `want` as fits, or nothing if that is less than `at_least`.
--
-- ARGV[7]  want, at least `at_least`
-- ARGV[8]  at_least, at least 1 and at most the limit
local granted = max(ARGV[8] + 0, min(ARGV[7] + 0, limit - used))
if not charge(granted) then
  granted = 0
end
return { now, granted, incarnation + 0, raw }
