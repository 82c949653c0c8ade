-- Sliding window: takes unspent units of a grant back out of its slice, if the window still overlaps that.
--
-- arg7  the slice that the grant was charged to
-- arg8  units to take back
local granted_in, taken = arg7, 0
if raw ~= '' and incarnation == new_incarnation and same_scale then
  if effective(stored) <= granted_in + buckets then
    taken = min(arg8, count(stored, granted_in))
  end
end
if taken > 0 then
  write('HINCRBY', key, int(granted_in % (buckets + 1)), int(-taken))
  repair(ends(stored))
end
return reply(taken, incarnation, raw)
