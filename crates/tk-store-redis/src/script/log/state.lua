-- The state of a sliding window log: one sorted set.
--
-- `M<window>:<incarnation>`      the lowest member, at -inf: the window under which the log was written
-- `T<instant>:<before>:<through>`  at the instant: the running totals before and after the units of that instant
-- `C<instant>`                    at minus the running total through that instant, if units of that instant are left
--
-- So the units alive are one subtraction, and both questions, "from which instant on are they alive" and "which
-- must leave to make room", are one look-up each, whatever the cost.
--
-- Members are looked at as they are read, and all that a call reads before it writes.
--
-- arg4  the length of the window
local window = arg4
local old_window, incarnation = window, 0
local meta = redis.call('ZRANGE', key, 0, 0)[1]
if meta then
  local w, i = string.match(meta, '^M(%d+):(%d+)$')
  old_window, incarnation = number(w), number(i)
end

local function parse(member)
  local at, before, through = string.match(member, '^T(%d+):(%d+):(%d+)$')
  return number(at), number(before), number(through)
end

local function entry(at, before, through)
  return 'T' .. int(at) .. ':' .. int(before) .. ':' .. int(through)
end

-- The first entry later than `at`.
local function after(at)
  local from = at < 0 and '0' or '(' .. int(at)
  return redis.call('ZRANGEBYSCORE', key, from, '+inf', 'LIMIT', 0, 1)[1]
end

local last = meta and redis.call('ZREVRANGE', key, 0, 0)[1]
local newest, newest_before, total = 0, 0, 0
if last then
  newest, newest_before, total = parse(last)
end

-- The instant that counts, the units alive at it, and the running total before the first of them.
local at = max(now, newest)
local live, first = 0, total
if last then
  local oldest = after(at - old_window)
  if oldest then
    local _, before = parse(oldest)
    live, first = total - before, before
  end
  if live < 0 then
    bad_state()
  end
end
local converted = last and old_window ~= window
if converted and live == 0 then
  newest, at = 0, now
end

-- The instant at which the running total reached this.
local function instant_of(through)
  local member = redis.call('ZREVRANGEBYSCORE', key, int(-through), '-inf', 'LIMIT', 0, 1)[1]
  return number(string.match(member or '', '^C(%d+)$'))
end

-- The instant of the newest unit that is alive. A later one may be stored, of which everything was handed back.
local function newest_unit()
  if live == 0 then
    return 0
  end
  return instant_of(total)
end

-- What the client decides on: `live newest blocking`. `newest` is the newest instant stored if the cost is charged, else that of the newest
-- unit; `blocking` is the instant of the unit that must leave so that the cost fits.
local function view(cost, charged)
  if converted then
    local only = live > 0 and at or 0
    return int(live) .. ' ' .. int(only) .. ' ' .. int(only)
  end
  local shown = charged and newest or newest_unit()
  local excess = min(live + cost - limit, live)
  local blocking = 0
  if excess > 0 then
    blocking = instant_of(first + excess)
  end
  return int(live) .. ' ' .. int(shown) .. ' ' .. int(blocking)
end
