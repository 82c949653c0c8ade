-- Sliding window: reads the state. Writes nothing.
return { now, 0, 0, table.concat(redis.call('HGETALL', key), ' ') }
