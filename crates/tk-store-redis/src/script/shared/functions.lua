-- For scripts whose work outweighs the making of functions, which is done anew in each call.
local max, min = math.max, math.min

-- `tostring` would keep 14 digits.
local function int(x)
  return string.format('%d', x)
end

local function reply(units, incarnation, state)
  return struct.pack('<I8I8I8', now, units, incarnation) .. state
end
