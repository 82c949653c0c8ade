-- For scripts whose work outweighs the making of functions, which is done anew in each call.
local max, min = math.max, math.min

-- `tostring` would keep 14 digits.
local function int(x)
  return string.format('%d', x)
end

local function reply(units, incarnation, state)
  return struct.pack('<I8I8I8', now, units, incarnation) .. state
end

-- What lies under the key is no state of this kind. To be said before anything is written: a caller takes it that nothing was.
local function bad_state()
  error('TKSTATE no state of this kind', 0)
end

-- A number of a state.
local function number(digits)
  local value = tonumber(digits)
  if not value or value >= 9007199254740992 then
    bad_state()
  end
  return value
end
