-- Grants what the rule allows.
--
-- arg7   the region's weight
-- arg8   what tenants that left have used in it
-- arg9  units wanted
roll()
local granted = 0
if arrive(arg7, arg8) then
  local r = regions[mine]
  local most, all = entitled()
  granted = max(0, min(arg9, most - drawn(r), limit - all))
  r.granted = r.granted + granted
  keep(mine)
end
write('HSET', key, 'window', int(start) .. ' ' .. int(begun) .. ' ' .. int(latest))
expire(ends())
return { now, granted, raw }
