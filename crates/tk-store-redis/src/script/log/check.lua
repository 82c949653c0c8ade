-- Sliding window log: charges a cost if it fits.
--
-- ARGV[6]  the cost, at least 1 and at most the limit
local cost = ARGV[6] + 0
local found = view(cost, cost <= limit - live)
if not charge(cost) then
  cost = 0
end
return { now, cost, incarnation + 0, found }
