-- The state of a fixed window: four numbers of 8 bytes.
--
-- start   the microsecond at which the window began
-- used    units used in it
-- window  its length, under which the state was written
-- incarnation
--
-- arg4  the length of a window
local window = arg4
local raw = call('GET', key) or ''
local start, used, old_window, incarnation = 0, 0, 0, 0
if raw ~= '' then
  if #raw == 32 then
    start, used, old_window, incarnation = struct.unpack('<I8I8I8I8', raw)
  end
  local most = 9007199254740991
  if #raw ~= 32 or start > most or used > most or old_window > most or incarnation > most then
    return redis.error_reply('TKSTATE no state of this kind')
  end
end
local old_end = start + old_window
local converted = raw ~= '' and old_window ~= window and now < old_end

-- The window in force and what is used in it: the stored one until it has ended, also if all of it was handed back. Units
-- used under another length count as used at the newest instant.
local current_start, current_used = start, used
if now >= old_end then
  current_start, current_used = now - now % window, 0
elseif converted then
  local newest = math.max(now, start)
  current_start = newest - newest % window
end
