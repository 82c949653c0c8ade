-- A budget that regions draw from: a hash. The field `window` holds `start begun latest`, `region:NAME` holds
-- `weight base peak settled granted returned turn asked`. What they mean, and the rule, is said in tk-fair.
--
-- arg4   the limit
-- arg5   the length of a window
-- arg6   after how long a region that does not ask is idle
-- ARGV[2]  the region's field
--
-- Reply: { now, units, state }
--   units  granted or taken back
--   state  as it was found: fields and values in turn
local limit, window, idle_after, mine = arg4, arg5, arg6, ARGV[2]
local raw = redis.call('HGETALL', key)
local start, begun, latest = 0, 0, 0
local regions, count = {}, 0
local is_ours = #raw == 0
for i = 1, #raw, 2 do
  if raw[i] == 'window' then
    local a, b, c = string.match(raw[i + 1], '^(%d+) (%d+) (%d+)$')
    start, begun, latest, is_ours = number(a), number(b), number(c), true
  else
    local a, b, c, d, e, f, g, h = string.match(raw[i + 1], '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
    local region = {
      weight = number(a),
      base = number(b),
      peak = number(c),
      settled = number(d),
      granted = number(e),
      returned = number(f),
      turn = number(g),
      asked = number(h),
    }
    local weighs = region.base <= region.weight and region.weight <= region.peak and region.peak <= 70368744177664
    if not weighs or region.settled + region.returned > region.granted or string.sub(raw[i], 1, 7) ~= 'region:' then
      bad_state()
    end
    regions[raw[i]] = region
    count = count + 1
  end
end
-- Somebody else's fields may be numbers too, and our states have a window and no more regions than there may be.
if not is_ours or count > 64 then
  bad_state()
end

local function drawn(region)
  return region.granted - region.returned
end

local function keep(name)
  local r = regions[name]
  local numbers = { r.weight, r.base, r.peak, r.settled, r.granted, r.returned, r.turn, r.asked }
  for i = 1, #numbers do
    numbers[i] = int(numbers[i])
  end
  write('HSET', key, name, table.concat(numbers, ' '))
end

-- Claims outlive their window: who asked at its end has one in the next.
local function ends()
  return start + 2 * window
end
