-- A key lives as long as its state. `ends` is the microsecond from which on the state is that of a new key.
--
-- By the server's clock the end is an instant, rounded up, so that rounding never ends a key early. By a caller's
-- clock it is a span plus the slack. No key lives longer than the longest state, 2^52 microseconds. `shared/keep.lua` says the same without a function.
local MAX_LIFE = 4503599627371

local function expire(ends)
  if callers_now then
    write('PEXPIRE', key, int(max(1, min(MAX_LIFE, floor((ends - now + 999) / 1000))) + slack))
  else
    local present = floor(now / 1000)
    write('PEXPIREAT', key, int(max(present + 1, min(present + MAX_LIFE, floor((ends + 999) / 1000)))))
  end
end

-- A key without an expiry would be kept for ever; somebody else made it so. It gets one, whatever the answer.
local function repair(ends)
  if redis.call('PTTL', key) == -1 then
    expire(ends)
  end
end
