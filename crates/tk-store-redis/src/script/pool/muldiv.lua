-- a * b / c, rounded down, exactly, for b < 2^53 and a <= c <= 2^52; 0 if c is 0.
--
-- A product that reaches 2^53 is divided as it is built up, digit by binary digit of b: a rest is below c, so neither its
-- double nor the sum with a, each less c where that fits, reaches 2^53.
local function share(a, b, c)
  if c == 0 then
    return 0
  end
  local product = a * b
  if product < 9007199254740992 then
    return floor((product - product % c) / c)
  end
  if a == c then
    return b
  end
  local quotient, rest, digit = 0, 0, 4503599627370496
  while digit >= 1 do
    quotient, rest = quotient * 2, rest * 2
    if rest >= c then
      quotient, rest = quotient + 1, rest - c
    end
    if floor(b / digit) % 2 == 1 then
      rest = rest + a
      if rest >= c then
        quotient, rest = quotient + 1, rest - c
      end
    end
    digit = digit / 2
  end
  return quotient
end
