-- Sliding window log: charges as much of `want` as fits, or nothing if that is less than `at_least`.
--
-- arg[6]  want, at least `at_least`
-- arg[7]  at_least, at least 1 and at most the limit
local granted = max(arg[7], min(arg[6], limit - live))
local found = view(granted, granted <= limit - live)
if not charge(granted) then
  granted = 0
end
return reply(granted, incarnation, found)
