-- ARGV[6]           the capacity
-- ARGV[7], ARGV[8]  the time in which the capacity replenishes
local capacity, tolerance, tolerance_rest = ARGV[6] + 0, ARGV[7] + 0, ARGV[8] + 0

-- How far the arrival time lies ahead of now. Units used under another interval, rounded up, count as used now.
local function lead()
  if micros < now then
    return 0, 0
  end
  if old_p == p and old_q == q then
    return micros - now, min(fraction, q - 1)
  end
  local used, rest = muldiv(micros - now, old_q, old_p)
  used = used + floor((rest + fraction + old_p - 1) / old_p)
  return muldiv(min(used, capacity), p, q)
end

local debt, debt_rest = lead()

-- Charges a cost, given as the time in which it replenishes, if it fits.
local function charge(whole, rest)
  whole, rest = debt + whole, debt_rest + rest
  if rest >= q then
    whole, rest = whole + 1, rest - q
  end
  if whole > tolerance or (whole == tolerance and rest > tolerance_rest) then
    if old_p ~= p or old_q ~= q then
      -- A denial keeps what a change of rate made of the state, or its retry time would start anew with each call.
      write(now + debt, debt_rest)
    elseif raw ~= '' then
      repair(micros + 1)
    end
    return false
  end
  write(now + whole, rest)
  return true
end
