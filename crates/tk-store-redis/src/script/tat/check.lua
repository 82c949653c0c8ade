-- GCRA and token bucket: charges a cost if it fits.
--
-- ARGV[9]             the cost, at least 1 and at most the capacity
-- ARGV[10], ARGV[11]  the time in which it replenishes
local cost = 0
if charge(ARGV[10] + 0, ARGV[11] + 0) then
  cost = ARGV[9] + 0
end
return { now, cost, incarnation + 0, raw }
