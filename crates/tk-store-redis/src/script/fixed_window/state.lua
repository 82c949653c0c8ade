-- The state of a fixed window: `start used window incarnation`.
--
-- start   the microsecond at which the window began
-- used    units used in it
-- window  its length, under which the state was written
--
-- ARGV[4]  the length of a window
local window = ARGV[4] + 0
local raw = redis.call('GET', key) or ''
local start, used, old_window, incarnation = 0, 0, window, '0'
if raw ~= '' then
  local a, b, c, d = string.match(raw, '^(%d+) (%d+) (%d+) (%d+)$')
  start, used, old_window, incarnation = a + 0, b + 0, c + 0, d
end
local old_end = start + old_window

-- The window in force and what is used in it. Units used under another length count as used at the newest instant.
local current_start, current_used = now - now % window, 0
if old_window ~= window and used > 0 then
  local newest = max(now, start)
  current_start = newest - newest % window
  current_used = now < old_end and used or 0
elseif current_start <= start and used > 0 then
  current_start, current_used = start, used
end

local function write(units)
  local kept = incarnation == '0' and new_incarnation or incarnation
  local text = int(current_start) .. ' ' .. int(units) .. ' ' .. ARGV[4] .. ' ' .. kept
  set(text, current_start + window)
end

local function charge(cost)
  if cost > limit - current_used then
    if old_window ~= window then
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
