-- GCRA and token bucket: charges a cost if it fits.
--
-- arg[9]            the cost, at least 1 and at most the capacity
-- arg[10], arg[11]  the time in which it replenishes
local units, whole, rest = arg[9], arg[10], arg[11]
