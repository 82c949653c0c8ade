-- GCRA and token bucket: undoes unspent units of a grant, if nothing was charged or taken back since.
--
-- ARGV[6], ARGV[7]   the arrival time right after the grant
-- ARGV[8]            units to take back
-- ARGV[9], ARGV[10]  the time in which they replenish
local taken = 0
local unchanged = raw ~= '' and incarnation == new_incarnation and old_p == p and old_q == q
  and micros == ARGV[6] + 0 and fraction == ARGV[7] + 0
if unchanged and (micros > now or (micros == now and fraction > 0)) then
  local whole, rest = micros - ARGV[9], fraction - ARGV[10]
  if rest < 0 then
    whole, rest = whole - 1, rest + q
  end
  if whole < 0 then
    whole, rest = 0, 0
  end
  write(whole, rest)
  taken = ARGV[8] + 0
end
return { now, taken, incarnation + 0, raw }
