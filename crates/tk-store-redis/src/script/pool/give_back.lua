-- Takes back units that a region has drawn and not spent, once for each tag.
--
-- arg7   the tag: the window's first instant,
-- arg8   when its state was begun,
-- arg9  and hand-backs applied before
-- arg10  units to take back
local taken, r = 0, regions[mine]
local same = #raw > 0 and now < start + window and arg7 == start and arg8 == begun
if same and r and r.turn == arg9 then
  taken = min(arg10, drawn(r))
end
if taken > 0 then
  r.returned = r.returned + taken
  r.turn = r.turn + 1
  r.settled = min(r.settled, drawn(r))
  keep(mine)
end
if #raw > 0 then
  repair(ends())
end
return { now, taken, raw }
