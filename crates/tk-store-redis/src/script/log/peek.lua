-- Sliding window log: what a check of a cost would find. Writes nothing.
--
-- arg[6]  the cost
return reply(0, incarnation, view(arg[6], false))
