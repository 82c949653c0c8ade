-- Every script goes on with this, after `shared/alone.lua` or `shared/together_begin.lua`.
--
-- key      the limiter's key
-- numbers  eleven doubles; those that a script does not speak of are 0
-- time     the server's clock, if it was read before
--
-- clock            the caller's clock in microseconds, plus 1; 0 to read the server's
-- slack            milliseconds that a key outlives its state, for a caller's clock that differs from the server's
-- new_incarnation  the incarnation of a state that is made now
-- arg4 to arg11    the script's own
--
-- Reply of every script: three numbers of 8 bytes, and the state
--   now          microseconds at which the script decided
--   units        units charged, granted or taken back; 0 if none
--   incarnation  of the state as it was found; 0 if there was none
--   state        as it was found; empty if there was none
--
-- All numbers are whole and below 2^53, where a double is exact. They come and go as bytes, since a third of a script's time
-- would be spent on writing and reading them as text; and they come as doubles into variables, since
-- to make integers doubles and a table of them takes longer than to charge a cost.
local clock, slack, new_incarnation, arg4, arg5, arg6, arg7, arg8, arg9, arg10, arg11 = struct.unpack('<ddddddddddd', numbers)
local callers_now, now = clock > 0, clock - 1
if not callers_now then
  time = time or redis.pcall('TIME')
  if time.err then
    return redis.error_reply('TKTIME ' .. time.err)
  end
  now = time[1] * 1000000 + time[2]
end
