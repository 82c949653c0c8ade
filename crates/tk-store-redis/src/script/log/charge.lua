local MAX_TOTAL = 4503599627370496

-- A log in which nothing is alive, and one written under another window, starts anew.
local function restart()
  local kept = incarnation == 0 and new_incarnation or incarnation
  local used = converted and live or 0
  if meta then
    write('UNLINK', key)
  end
  write('ZADD', key, '-inf', 'M' .. int(window) .. ':' .. int(kept))
  return used
end

-- All entries, a few at a time, which `step` may put others in the places of.
local function each_entry(step)
  local from = 0
  repeat
    local members = redis.call('ZRANGEBYSCORE', key, 0, '+inf', 'LIMIT', from, 500)
    for _, member in ipairs(members) do
      step(member)
    end
    from = from + #members
  until #members < 500
end

-- Counts all running totals from the oldest entry on, before they reach 2^53: once in many windows even at the highest limit.
local function rebase()
  local _, base = parse(after(-1))
  each_entry(function(member)
    local instant, before, through = parse(member)
    write('ZREM', key, member)
    write('ZADD', key, int(instant), entry(instant, before - base, through - base))
    if through > before then
      write('ZADD', key, int(base - through), 'C' .. int(instant))
    end
  end)
  newest_before, total = newest_before - base, total - base
  last = entry(newest, newest_before, total)
end

-- Drops a few dead entries, so that no call pays for a long silence.
local function prune()
  if at < window then
    return
  end
  local dead = redis.call('ZRANGEBYSCORE', key, 0, int(at - window), 'LIMIT', 0, 32)
  if #dead > 0 then
    local gone = {}
    for i, member in ipairs(dead) do
      gone[2 * i - 1] = member
      gone[2 * i] = 'C' .. (string.match(member, '^T(%d+)') or bad_state())
    end
    write('ZREM', key, unpack(gone))
  end
end

local function add(cost)
  if not last or live == 0 or converted then
    local through = restart() + cost
    write('ZADD', key, int(at), entry(at, 0, through), int(-through), 'C' .. int(at))
    return
  end
  local is_full = total + cost >= MAX_TOTAL
  if is_full then
    -- Each is looked at before any is written.
    each_entry(parse)
  end
  prune()
  if is_full then
    rebase()
  end
  local before = total
  if newest == at then
    before = newest_before
    write('ZREM', key, last)
  end
  local through = total + cost
  write('ZADD', key, int(at), entry(at, before, through), int(-through), 'C' .. int(at))
end

local function charge(cost)
  if cost > limit - live then
    if converted then
      -- A denial keeps what a change of window made of the state, or its retry time would start anew with each call.
      local through = restart()
      write('ZADD', key, int(at), entry(at, 0, through), int(-through), 'C' .. int(at))
      expire(at + window)
    elseif meta then
      repair(newest + window)
    end
    return false
  end
  add(cost)
  expire(at + window)
  return true
end
