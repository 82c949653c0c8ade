-- Sliding window: charges a cost if it fits.
--
-- arg7  the cost, at least 1 and at most the limit
local cost = arg7
if not charge(cost) then
  cost = 0
end
return reply(cost, incarnation, raw)
