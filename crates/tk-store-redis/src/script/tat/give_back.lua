-- GCRA and token bucket: undoes unspent units of a grant, if nothing was charged or taken back since.
--
-- arg6, arg7   the arrival time right after the grant
-- arg8           units to take back
-- arg9, arg10  the time in which they replenish
local units, state, ends = 0, nil, micros + 1
local unchanged = raw ~= '' and incarnation == new_incarnation and old_p == p and old_q == q
  and micros == arg6 and fraction == arg7
if unchanged and (micros > now or (micros == now and fraction > 0)) then
  local whole, rest = micros - arg9, fraction - arg10
  if rest < 0 then
    whole, rest = whole - 1, rest + q
  end
  if whole < 0 then
    whole, rest = 0, 0
  end
  units = arg8
  state = struct.pack('<I8I8I8I8I8', whole, rest, p, q, incarnation)
  ends = rest > 0 and whole + 1 or whole
end
