-- Sliding window log: charges a cost if it fits.
--
-- arg6  the cost, at least 1 and at most the limit
local cost = arg6
local found = view(cost, cost <= limit - live)
if not charge(cost) then
  cost = 0
end
return reply(cost, incarnation, found)
