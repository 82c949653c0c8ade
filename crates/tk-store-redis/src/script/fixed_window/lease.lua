-- Fixed window: charges as much of `want` as fits, or nothing if that is less than `at_least`.
--
-- arg6  want, at least `at_least`
-- arg7  at_least, at least 1 and at most the limit
local units = math.max(arg7, math.min(arg6, limit - current_used))
