-- GCRA and token bucket: charges a cost if it fits.
--
-- arg9            the cost, at least 1 and at most the capacity
-- arg10, arg11  the time in which it replenishes
local units, whole, rest = arg9, arg10, arg11
