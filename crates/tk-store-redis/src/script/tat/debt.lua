-- arg6        the capacity
-- arg7, arg8  the time in which the capacity replenishes
local capacity, tolerance, tolerance_rest = arg6, arg7, arg8

-- How far the arrival time lies ahead of now.
local same_rate = old_p == p and old_q == q
local debt, debt_rest = 0, 0
if micros >= now and same_rate then
  debt, debt_rest = micros - now, fraction
elseif micros >= now then
  -- The branch goes on with `shared/muldiv.lua`, so that a function is made only where it is called, and ends with `tat/convert.lua`.
