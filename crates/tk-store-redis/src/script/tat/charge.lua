-- Charges `units`, which replenish in `whole` and `rest`, if they fit.
whole, rest = debt + whole, debt_rest + rest
if rest >= q then
  whole, rest = whole + 1, rest - q
end
if whole > tolerance or (whole == tolerance and rest > tolerance_rest) then
  units, whole, rest = 0, debt, debt_rest
end
local state, ends = nil, micros + 1
if units > 0 or not same_rate then
  -- A denial keeps what a change of rate made of the state, or its retry time would start anew with each call.
  whole = now + whole
  state = struct.pack('<I8I8I8I8I8', whole, rest, p, q, incarnation == 0 and new_incarnation or incarnation)
  ends = rest > 0 and whole + 1 or whole
end
