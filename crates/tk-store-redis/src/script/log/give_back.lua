-- Sliding window log: takes unspent units of a grant back out of its entry, if that is alive and among the newest 32.
--
-- All later running totals change, hence the reach.
--
-- arg6  the instant of the grant
-- arg7  units to take back
local granted_at, amount, taken = arg6, arg7, 0
local known = last and incarnation == new_incarnation and old_window == window
if known and granted_at + window > at then
  local members = redis.call('ZREVRANGEBYSCORE', key, '+inf', int(granted_at), 'LIMIT', 0, 32)
  local entries = {}
  for i, member in ipairs(members) do
    entries[i] = { parse(member) }
  end
  local instant, before, through = unpack(entries[#entries] or { newest, newest_before, total })
  if instant == granted_at then
    taken = min(amount, through - before)
  end
  if taken > 0 then
    for i = #entries, 1, -1 do
      instant, before, through = unpack(entries[i])
      write('ZREM', key, members[i], 'C' .. int(instant))
      if instant > granted_at then
        before = before - taken
      end
      through = through - taken
      -- An instant without units stays: it may have been the newest, and others were dropped on its account.
      write('ZADD', key, int(instant), entry(instant, before, through))
      if through > before then
        write('ZADD', key, int(-through), 'C' .. int(instant))
      end
    end
    repair(newest + window)
  end
end
return reply(taken, incarnation, '')
