-- Takes back units that a region has drawn and not spent, once for each tag.
--
-- arg[7]   the tag: the window's first instant,
-- arg[8]   when its state was begun,
-- arg[9]  and hand-backs applied before
-- arg[10]  units to take back
local taken, r = 0, regions[mine]
local same = #raw > 0 and now < start + window and arg[7] == start and arg[8] == begun
if same and r and r.turn == arg[9] then
  taken = min(arg[10], drawn(r))
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
