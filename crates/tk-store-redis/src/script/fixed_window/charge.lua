-- Charges `units` if they fit.
if units > limit - current_used then
  units = 0
end
local state, ends = nil, old_end
if units > 0 or converted then
  -- A denial keeps what a change of window made of the state, or its retry time would start anew with each call.
  local kept = incarnation == 0 and new_incarnation or incarnation
  state = struct.pack('<I8I8I8I8', current_start, current_used + units, window, kept)
  ends = current_start + window
end
