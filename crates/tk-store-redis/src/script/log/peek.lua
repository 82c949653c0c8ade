-- Sliding window log: what a check of a cost would find. Writes nothing.
--
-- arg6  the cost
return reply(0, incarnation, view(arg6, false))
