-- Sliding window log: charges as much of `want` as fits, or nothing if that is less than `at_least`.
--
-- arg6  want, at least `at_least`
-- arg7  at_least, at least 1 and at most the limit
local granted = max(arg7, min(arg6, limit - live))
local found = view(granted, granted <= limit - live)
if not charge(granted) then
  granted = 0
end
return reply(granted, incarnation, found)
