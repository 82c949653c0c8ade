-- The state of a sliding window: a hash.
--
-- w, b     window and buckets under which it was written
-- n        the number of the newest slice in which units were used
-- i        the incarnation
-- 0 to b   units used in a slice; slice k stands at k modulo b + 1, and a missing one is 0
--
-- arg4  the length of the window
-- arg6  the number of buckets
local window, buckets = arg4, arg6
local fields = redis.call('HGETALL', key)
local raw = table.concat(fields, ' ')
if string.find(table.concat(fields), '[^%dwbni]') then
  bad_state()
end
local hash, named, places, top = {}, 0, {}, 0
for i = 1, #fields, 2 do
  local place, value = tonumber(fields[i]), number(fields[i + 1])
  if place then
    places[place], top = value, max(top, place)
  else
    hash[fields[i]], named = value, named + 1
  end
end
local incarnation = hash.i or 0
if raw ~= '' then
  local w, b = hash.w, hash.b
  local whole = named == 4 and w and b and hash.n and hash.i
  if not whole or w == 0 or w > 281474976710656 or b == 0 or b > 1024 or top > b then
    bad_state()
  end
end

-- A ring is { window, buckets, newest, counts by place }; newest is nil if there never were units in it.
local function ring(w, b)
  return { window = w, buckets = b, counts = {} }
end

local function count(of, slice)
  if not of.newest or slice > of.newest or of.newest - slice > of.buckets or slice < 0 then
    return 0
  end
  return of.counts[slice % (of.buckets + 1)] or 0
end

-- An instant as a slice and the way into it, in units of 1/buckets microsecond.
local function position(of, at)
  local turns = floor(at / of.window)
  local scaled = (at - turns * of.window) * of.buckets
  local passed = floor(scaled / of.window)
  return turns * of.buckets + passed, scaled - passed * of.window
end

-- The position of now, or the start of the newest slice if that is later, also if all of it was handed back.
local function effective(of)
  local slice, into = position(of, now)
  if of.newest and of.newest > slice then
    return of.newest, 0
  end
  return slice, into
end

-- The first whole microsecond of a slice.
local function micros(of, slice)
  local whole, rest = muldiv(slice, of.window, of.buckets)
  return rest > 0 and whole + 1 or whole
end

-- When the last unit has left the window.
local function ends(of)
  return micros(of, of.newest + 1) + of.window
end

-- Units in the newest slices in full, and of the one before the part that the window still overlaps, rounded up.
local function estimate(of, slice, into)
  if not of.newest then
    return 0
  end
  local total = 0
  for k = max(slice - of.buckets + 1, of.newest - of.buckets, 0), min(slice, of.newest) do
    total = total + count(of, k)
  end
  local whole, rest = muldiv(count(of, slice - of.buckets), of.window - into, of.window)
  return total + (rest > 0 and whole + 1 or whole)
end

local stored = ring(window, buckets)
if raw ~= '' then
  stored = { window = hash.w, buckets = hash.b, newest = hash.n, counts = places }
end
local same_scale = stored.window == window and stored.buckets == buckets
