-- Sliding window log: what a check of a cost would find. Writes nothing.
--
-- ARGV[6]  the cost
return { now, 0, incarnation + 0, view(ARGV[6] + 0, false) }
