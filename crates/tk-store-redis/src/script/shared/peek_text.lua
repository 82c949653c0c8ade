-- Reads a state that is kept as text. Writes nothing.
local raw = redis.call('GET', key) or ''
return { now, 0, 0, raw }
