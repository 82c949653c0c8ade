-- The steps of the rule, by the numbers that tk-fair gives them.
local function is_active(region, at)
  return region.weight > 0 and max(0, at - region.asked) < idle_after
end

-- Step 1. `at` is the instant that counts: time does not run backwards.
local at = max(now, latest)

local function roll()
  latest = at
  local first = at - at % window
  if first <= start and count > 0 then
    return
  end
  start, begun = first, at
  if #raw > 0 then
    write('UNLINK', key)
  end
  for name, r in pairs(regions) do
    if is_active(r, first) then
      r.base, r.peak = r.weight, r.weight
      r.settled, r.granted, r.returned, r.turn = 0, 0, 0, 0
      keep(name)
    else
      regions[name] = nil
      count = count - 1
    end
  end
end

-- Step 2; `false` if there is no room.
local function arrive(weight, settled)
  local r = regions[mine]
  if not r then
    if count >= 64 then
      return false
    end
    r = { weight = 0, base = 0, peak = 0, settled = 0, granted = 0, returned = 0, turn = 0, asked = 0 }
    regions[mine] = r
  end
  if not is_active(r, at) then
    r.base = 0
  end
  r.weight = weight
  r.base = min(r.base, weight)
  r.peak = max(r.peak, weight)
  r.settled = min(settled, drawn(r))
  r.asked = at
  return true
end

-- Step 4: sets every active region's fair share.
local function fill(active)
  local rest = limit
  for name, r in pairs(regions) do
    rest = rest - (active[name] and r.settled or drawn(r))
  end
  rest = max(0, rest)
  local filling = active
  while true do
    local weights, above, below = 0, {}, {}
    for _, r in pairs(filling) do
      weights = weights + r.weight
    end
    for name, r in pairs(filling) do
      local part = share(r.weight, rest, weights)
      if drawn(r) - r.settled > part then
        above[name] = r
      else
        below[name] = r
        r.fair = r.settled + part
      end
    end
    if next(above) == nil then
      return
    end
    for _, r in pairs(above) do
      r.fair = drawn(r)
      rest = max(0, rest - (drawn(r) - r.settled))
    end
    filling = below
  end
end

-- Steps 3 to 6: what the region may have drawn in total, and what all have.
local function entitled()
  local peaks, all, active = 0, 0, {}
  for name, r in pairs(regions) do
    peaks, all = peaks + r.peak, all + drawn(r)
    if is_active(r, at) then
      active[name] = r
    end
  end
  fill(active)
  local taken = 0
  for name, r in pairs(regions) do
    r.promised = share(r.base, limit, peaks)
    if name ~= mine then
      taken = taken + (active[name] and max(drawn(r), r.promised, r.fair) or drawn(r))
    end
  end
  if not active[mine] then
    return 0, all
  end
  return max(regions[mine].promised, limit - taken), all
end
