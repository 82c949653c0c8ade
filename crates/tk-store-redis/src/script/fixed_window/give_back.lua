-- Fixed window: takes unspent units of a grant back out of its window, if that is still in force.
--
-- arg6  the start of the window that the grant was charged to
-- arg7  units to take back
local units, state = 0, nil
local live = raw ~= '' and incarnation == new_incarnation and old_window == window and now < old_end
if live and start == arg6 then
  units = math.min(arg7, used)
end
if units > 0 then
  state = struct.pack('<I8I8I8I8', start, used - units, window, incarnation)
end
local ends = old_end
