-- Every script begins with this.
--
-- KEYS[1]  the limiter's key
-- ARGV[1]  the caller's clock in microseconds; empty to read the server's
-- ARGV[2]  milliseconds that a key outlives its state, for a caller's clock that differs from the server's
-- ARGV[3]  the incarnation of a state that is made now: a whole number below 2^53
--
-- Reply of every script: { now, units, incarnation, state }
--   now          microseconds at which the script decided
--   units        units charged, granted or taken back; 0 if none
--   incarnation  of the state as it was found; 0 if there was none
--   state        as it was found, as text; empty if there was none
--
-- All numbers are whole and below 2^53, where a double is exact.
local key, new_incarnation = KEYS[1], ARGV[3]
local floor, max, min = math.floor, math.max, math.min
local callers_now = tonumber(ARGV[1])
local now = callers_now
if not now then
  local time = redis.pcall('TIME')
  if time.err then
    return redis.error_reply('TKTIME ' .. time.err)
  end
  now = time[1] * 1000000 + time[2]
end

-- `tostring` would keep 14 digits.
local function int(x)
  return string.format('%.0f', x)
end
