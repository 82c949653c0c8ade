  -- Units used under another interval, rounded up, count as used now.
  local used, over = muldiv(micros - now, old_q, old_p)
  used = used + floor((over + fraction + old_p - 1) / old_p)
  debt, debt_rest = muldiv(math.min(used, capacity), p, q)
end
