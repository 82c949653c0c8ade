-- GCRA and token bucket: charges as much of `want` as fits, or nothing if that is less than `at_least`.
--
-- arg9   want, at least `at_least`
-- arg10  at_least, at least 1 and at most the capacity
local room, room_rest = tolerance - debt, tolerance_rest - debt_rest
if room_rest < 0 then
  room, room_rest = room - 1, room_rest + q
end
local available = 0
if room >= 0 then
  local fit, over = muldiv(room, q, p)
  available = fit + floor((over + room_rest) / p)
end
local units = math.max(arg10, math.min(arg9, available))
local whole, rest = muldiv(units, p, q)
