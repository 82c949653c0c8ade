-- The state of a fixed window: `start used window incarnation`.
--
-- start   the microsecond at which the window began
-- used    units used in it
-- window  its length, under which the state was written
--
-- ARGV[4]  the length of a window
local window = ARGV[4] + 0
local raw = redis.call('GET', key) or ''
local start, used, old_window, incarnation = 0, 0, 0, '0'
if raw ~= '' then
  local a, b, c, d = string.match(raw, '^(%d+) (%d+) (%d+) (%d+)$')
  start, used, old_window, incarnation = a + 0, b + 0, c + 0, d
end
local old_end = start + old_window
local converted = raw ~= '' and old_window ~= window and now < old_end

-- The window in force and what is used in it: the stored one until it has ended, also if all of it was handed back. Units
-- used under another length count as used at the newest instant.
local current_start, current_used = start, used
if now >= old_end then
  current_start, current_used = now - now % window, 0
elseif converted then
  local newest = max(now, start)
  current_start = newest - newest % window
end

local function write(units)
  local kept = incarnation == '0' and new_incarnation or incarnation
  local text = int(current_start) .. ' ' .. int(units) .. ' ' .. ARGV[4] .. ' ' .. kept
  set(text, current_start + window)
end

local function charge(cost)
  if cost > limit - current_used then
    if converted then
      -- A denial keeps what a change of window made of the state, or its retry time would start anew with each call.
      write(current_used)
    elseif raw ~= '' then
      repair(old_end)
    end
    return false
  end
  write(current_used + cost)
  return true
end
