-- Takes back units that a region has drawn and not spent, once for each tag.
--
-- ARGV[8]   the tag: the window's first instant,
-- ARGV[9]   when its state was begun,
-- ARGV[10]  and hand-backs applied before
-- ARGV[11]  units to take back
local taken, r = 0, regions[mine]
local same = #raw > 0 and now < start + window and ARGV[8] + 0 == start and ARGV[9] + 0 == begun
if same and r and r.turn == ARGV[10] + 0 then
  taken = min(ARGV[11] + 0, drawn(r))
end
if taken > 0 then
  r.returned = r.returned + taken
  r.turn = r.turn + 1
  r.settled = min(r.settled, drawn(r))
  write(mine)
end
if #raw > 0 then
  repair(ends())
end
return { now, taken, raw }
