-- Grants what the rule allows.
--
-- arg[7]   the region's weight
-- arg[8]   what tenants that left have used in it
-- arg[9]  units wanted
roll()
local granted = 0
if arrive(arg[7], arg[8]) then
  local r = regions[mine]
  local most, all = entitled()
  granted = max(0, min(arg[9], most - drawn(r), limit - all))
  r.granted = r.granted + granted
  write(mine)
end
redis.call('HSET', key, 'window', int(start) .. ' ' .. int(begun) .. ' ' .. int(latest))
expire(ends())
return { now, granted, raw }
