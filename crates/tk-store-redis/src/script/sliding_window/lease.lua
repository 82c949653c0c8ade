-- Sliding window: charges as much of `want` as fits, or nothing if that is less than `at_least`.
--
-- arg7  want, at least `at_least`
-- arg8  at_least, at least 1 and at most the limit
local granted = max(arg8, min(arg7, limit - used))
if not charge(granted) then
  granted = 0
end
return reply(granted, incarnation, raw)
