-- A key lives as long as its state. `ends` is the microsecond from which on the state is that of a new key.
--
-- By the server's clock the end is an instant, rounded up, so that rounding never ends a key early. By a caller's
-- clock it is a span plus the slack. No key lives longer than the longest state, 2^52 microseconds.
local MAX_LIFE = 4503599627371

local function life(ends)
  return max(1, min(MAX_LIFE, floor((ends - now + 999) / 1000))) + ARGV[2]
end

local function deadline(ends)
  local present = floor(now / 1000)
  return max(present + 1, min(present + MAX_LIFE, floor((ends + 999) / 1000)))
end

local function expire(ends)
  if callers_now then
    redis.call('PEXPIRE', key, int(life(ends)))
  else
    redis.call('PEXPIREAT', key, int(deadline(ends)))
  end
end

local function set(text, ends)
  if callers_now then
    redis.call('SET', key, text, 'PX', int(life(ends)))
  else
    redis.call('SET', key, text, 'PXAT', int(deadline(ends)))
  end
end

-- A key without an expiry would be kept for ever; somebody else made it so. It gets one, whatever the answer.
local function repair(ends)
  if redis.call('PTTL', key) == -1 then
    expire(ends)
  end
end
