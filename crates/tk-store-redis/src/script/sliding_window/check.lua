-- Sliding window: charges a cost if it fits.
--
-- ARGV[7]  the cost, at least 1 and at most the limit
local cost = ARGV[7] + 0
if not charge(cost) then
  cost = 0
end
return { now, cost, incarnation + 0, raw }
