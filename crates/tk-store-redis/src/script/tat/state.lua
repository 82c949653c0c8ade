-- The state of GCRA and token bucket: five numbers of 8 bytes.
--
-- micros, fraction  the theoretical arrival time: whole microseconds, and the rest over q
-- p, q              the emission interval it was written under: p/q microseconds
-- incarnation
--
-- Times between two instants are pairs: whole microseconds, and the rest over q.
--
-- arg4, arg5  p and q of the strategy in force
local p, q = arg4, arg5
local raw = call('GET', key) or ''
local micros, fraction, old_p, old_q, incarnation = 0, 0, p, q, 0
if raw ~= '' then
  if #raw == 40 then
    micros, fraction, old_p, old_q, incarnation = struct.unpack('<I8I8I8I8I8', raw)
  end
  local most = 9007199254740991
  local sound = #raw == 40 and micros <= most and old_p <= most and old_q <= most and incarnation <= most
  if not sound or old_p == 0 or fraction >= old_q then
    return redis.error_reply('TKSTATE no state of this kind')
  end
end
