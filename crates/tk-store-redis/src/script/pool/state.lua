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
for i = 1, #raw, 2 do
  if raw[i] == 'window' then
    local a, b, c = string.match(raw[i + 1], '^(%d+) (%d+) (%d+)$')
    start, begun, latest = a + 0, b + 0, c + 0
  else
    local a, b, c, d, e, f, g, h = string.match(raw[i + 1], '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
    regions[raw[i]] = {
      weight = a + 0,
      base = b + 0,
      peak = c + 0,
      settled = d + 0,
      granted = e + 0,
      returned = f + 0,
      turn = g + 0,
      asked = h + 0,
    }
    count = count + 1
  end
end

local function drawn(region)
  return region.granted - region.returned
end

local function write(name)
  local r = regions[name]
  local numbers = { r.weight, r.base, r.peak, r.settled, r.granted, r.returned, r.turn, r.asked }
  for i = 1, #numbers do
    numbers[i] = int(numbers[i])
  end
  redis.call('HSET', key, name, table.concat(numbers, ' '))
end

-- Claims outlive their window: who asked at its end has one in the next.
local function ends()
  return start + 2 * window
end
