-- The state of GCRA and token bucket: `micros fraction p q incarnation`.
--
-- micros, fraction  the theoretical arrival time: whole microseconds, and the rest over q
-- p, q              the emission interval it was written under: p/q microseconds
--
-- Times between two instants are pairs: whole microseconds, and the rest over q.
--
-- ARGV[4], ARGV[5]  p and q of the strategy in force
local p, q = tonumber(ARGV[4]), tonumber(ARGV[5])
local raw = redis.call('GET', key) or ''
local micros, fraction, old_p, old_q, incarnation = 0, 0, p, q, '0'
if raw ~= '' then
  local a, b, c, d, e = string.match(raw, '^(%d+) (%d+) (%d+) (%d+) (%d+)$')
  micros, fraction, old_p, old_q, incarnation = a + 0, b + 0, c + 0, d + 0, e
end

local function write(whole, rest)
  local kept = incarnation == '0' and new_incarnation or incarnation
  local text = int(whole) .. ' ' .. int(rest) .. ' ' .. ARGV[4] .. ' ' .. ARGV[5] .. ' ' .. kept
  set(text, rest > 0 and whole + 1 or whole)
end
