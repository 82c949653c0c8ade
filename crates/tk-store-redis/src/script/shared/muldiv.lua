-- The quotient and the remainder of a * b / c, exactly, for a, b < 2^53 and 0 < c <= 2^48.
--
-- A product that reaches 2^53 is divided as it is built up, by four binary digits of b at a time: then no
-- number in between reaches 2^53. A quotient that does is inexact, but still at least 2^53.
local function muldiv(a, b, c)
  local product = a * b
  if product < 9007199254740992 then
    local rest = product % c
    return (product - rest) / c, rest
  end
  local whole = floor(a / c)
  local part = a - whole * c
  local quotient, rest, digit = 0, 0, 4503599627370496
  while digit >= 1 do
    local value = floor(b / digit) % 16
    local step = rest * 16 + part * value
    local times = floor(step / c)
    quotient = quotient * 16 + times
    rest = step - times * c
    digit = digit / 16
  end
  return whole * b + quotient, rest
end
