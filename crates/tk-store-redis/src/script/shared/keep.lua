-- Ends the script of a state that is kept as a string.
--
-- raw          the state as it was found; empty if there was none
-- incarnation  of that
-- units        charged, granted or taken back
-- state        what to write; nil if nothing
-- ends         the microsecond from which on the state is that of a new key
--
-- A key lives as long as its state. By the server's clock the end is an instant, rounded up, so that rounding never ends a key
-- early. By a caller's clock it is a span plus the slack. No key lives longer than the longest state, 2^52 microseconds.
--
-- There is no function here, since to make one for each call takes longer than what it would do.
local life
if callers_now then
  life = max(1, min(4503599627371, floor((ends - now + 999) / 1000))) + arg[2]
else
  local present = floor(now / 1000)
  life = max(present + 1, min(present + 4503599627371, floor((ends + 999) / 1000)))
end
if state then
  redis.call('SET', key, state, callers_now and 'PX' or 'PXAT', string.format('%d', life))
elseif raw ~= '' and redis.call('PTTL', key) == -1 then
  -- A key without an expiry would be kept for ever; somebody else made it so. It gets one, whatever the answer.
  redis.call(callers_now and 'PEXPIRE' or 'PEXPIREAT', key, string.format('%d', life))
end
return struct.pack('<I8I8I8', now, units, incarnation) .. raw
