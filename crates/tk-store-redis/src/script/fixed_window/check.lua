-- Fixed window: charges a cost if it fits.
--
-- arg6  the cost, at least 1 and at most the limit
local units = arg6
