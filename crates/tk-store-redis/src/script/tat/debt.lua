-- arg[6]          the capacity
-- arg[7], arg[8]  the time in which the capacity replenishes
local capacity, tolerance, tolerance_rest = arg[6], arg[7], arg[8]

-- How far the arrival time lies ahead of now. Units used under another interval, rounded up, count as used now.
local same_rate = old_p == p and old_q == q
local debt, debt_rest = 0, 0
if micros >= now then
  if same_rate then
    debt, debt_rest = micros - now, min(fraction, q - 1)
  else
    local used, over = muldiv(micros - now, old_q, old_p)
    used = used + floor((over + fraction + old_p - 1) / old_p)
    debt, debt_rest = muldiv(min(used, capacity), p, q)
  end
end
