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
-- There is no function here, and none is called for what `%` does: either takes longer than the rest of it.
if state or (raw ~= '' and call('PTTL', key) == -1) then
  local from = callers_now and 0 or now - now % 1000
  local life = ends + 999 - (callers_now and now or 0)
  life = (life - life % 1000 - from) / 1000
  if life < 1 then
    life = 1
  elseif life > 4503599627371 then
    life = 4503599627371
  end
  life = string.format('%d', life + (callers_now and slack or from / 1000))
  if state then
    call('SET', key, state, callers_now and 'PX' or 'PXAT', life)
  else
    -- A key without an expiry would be kept for ever; somebody else made it so. It gets one, whatever the answer.
    call(callers_now and 'PEXPIRE' or 'PEXPIREAT', key, life)
  end
end
return struct.pack('<I8I8I8', now, units, incarnation) .. raw
