-- Fixed window: takes unspent units of a grant back out of its window, if that is still in force.
--
-- ARGV[6]  the start of the window that the grant was charged to
-- ARGV[7]  units to take back
local taken = 0
local live = raw ~= '' and incarnation == new_incarnation and old_window == window and now < old_end
if live and start == ARGV[6] + 0 then
  taken = min(ARGV[7] + 0, used)
end
if taken > 0 then
  write(used - taken)
end
return { now, taken, incarnation + 0, raw }
