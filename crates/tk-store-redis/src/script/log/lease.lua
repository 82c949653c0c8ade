-- Sliding window log: charges as much of `want` as fits, or nothing if that is less than `at_least`.
--
-- ARGV[6]  want, at least `at_least`
-- ARGV[7]  at_least, at least 1 and at most the limit
local granted = max(ARGV[7] + 0, min(ARGV[6] + 0, limit - live))
local found = view(granted, granted <= limit - live)
if not charge(granted) then
  granted = 0
end
return { now, granted, incarnation + 0, found }
