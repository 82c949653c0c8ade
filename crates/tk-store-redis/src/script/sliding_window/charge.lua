-- Units used under another scale, rounded up, count as used at the newest instant.
local current = stored
if not same_scale then
  current = ring(window, buckets)
  local used = estimate(stored, effective(stored))
  if used > 0 then
    current.newest = position(current, max(now, micros(stored, stored.newest)))
    current.counts[current.newest % (buckets + 1)] = used
  end
end
local slice, into = effective(current)
local used = estimate(current, slice, into)

-- Writes the ring as it is in `current`, and nothing else.
local function rewrite()
  if raw ~= '' then
    write('UNLINK', key)
  end
  write('HSET', key, 'w', int(window), 'b', int(buckets), 'i', int(incarnation == 0 and new_incarnation or incarnation))
  for place, units in pairs(current.counts) do
    write('HSET', key, 'n', int(current.newest), int(place), int(units))
  end
end

-- Makes room for `slice`: whatever stood in the places from the newest slice to it is gone.
local function advance()
  local passed = current.newest and slice - current.newest or buckets + 1
  if passed > buckets then
    current.counts = {}
  end
  if passed > buckets or not same_scale then
    rewrite()
    return
  end
  local gone = {}
  for k = slice - passed + 1, slice do
    local place = k % (buckets + 1)
    if current.counts[place] then
      gone[#gone + 1] = int(place)
      current.counts[place] = nil
    end
  end
  if #gone > 0 then
    write('HDEL', key, unpack(gone))
  end
end

local function charge(cost)
  if cost > limit - used then
    if not same_scale then
      -- A denial keeps what a change of window made of the state, or its retry time would start anew with each call.
      rewrite()
      expire(ends(current))
    elseif raw ~= '' then
      repair(ends(stored))
    end
    return false
  end
  advance()
  local place = slice % (buckets + 1)
  write('HSET', key, 'n', int(slice), int(place), int((current.counts[place] or 0) + cost))
  current.newest = slice
  expire(ends(current))
  return true
end
