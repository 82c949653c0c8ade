-- Every script begins with this.
--
-- KEYS[1]  the limiter's key
-- ARGV[1]  eleven numbers of 8 bytes, the lowest first; those that a script does not speak of are 0
--
-- arg[1]  the caller's clock in microseconds, plus 1; 0 to read the server's
-- arg[2]  milliseconds that a key outlives its state, for a caller's clock that differs from the server's
-- arg[3]  the incarnation of a state that is made now
--
-- Reply of every script: three numbers of 8 bytes, and the state
--   now          microseconds at which the script decided
--   units        units charged, granted or taken back; 0 if none
--   incarnation  of the state as it was found; 0 if there was none
--   state        as it was found; empty if there was none
--
-- All numbers are whole and below 2^53, where a double is exact. They come and go as bytes, since a third of a script's time
-- would be spent on writing and reading them as text.
local arg = { struct.unpack('<I8I8I8I8I8I8I8I8I8I8I8', ARGV[1]) }
local key, new_incarnation = KEYS[1], arg[3]
local floor, max, min = math.floor, math.max, math.min
local callers_now, now = arg[1] > 0, arg[1] - 1
if not callers_now then
  local time = redis.pcall('TIME')
  if time.err then
    return redis.error_reply('TKTIME ' .. time.err)
  end
  now = time[1] * 1000000 + time[2]
end
