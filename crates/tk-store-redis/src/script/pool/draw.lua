-- Grants what the rule allows.
--
-- ARGV[8]   the region's weight
-- ARGV[9]   what tenants that left have used in it
-- ARGV[10]  units wanted
roll()
local granted = 0
if arrive(ARGV[8] + 0, ARGV[9] + 0) then
  local r = regions[mine]
  local most, all = entitled()
  granted = max(0, min(ARGV[10] + 0, most - drawn(r), limit - all))
  r.granted = r.granted + granted
  write(mine)
end
redis.call('HSET', key, 'window', int(start) .. ' ' .. int(begun) .. ' ' .. int(latest))
expire(ends())
return { now, granted, raw }
