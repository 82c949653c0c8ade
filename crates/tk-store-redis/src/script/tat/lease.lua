-- GCRA and token bucket: charges as much of `want` as fits, or nothing if that is less than `at_least`.
--
-- ARGV[9]   want, at least `at_least`
-- ARGV[10]  at_least, at least 1 and at most the capacity
local want, at_least = ARGV[9] + 0, ARGV[10] + 0
local room, room_rest = tolerance - debt, tolerance_rest - debt_rest
if room_rest < 0 then
  room, room_rest = room - 1, room_rest + q
end
local available = 0
if room >= 0 then
  local units, rest = muldiv(room, q, p)
  available = units + floor((rest + room_rest) / p)
end
local granted = max(at_least, min(want, available))
if not charge(muldiv(granted, p, q)) then
  granted = 0
end
return { now, granted, incarnation + 0, raw }
