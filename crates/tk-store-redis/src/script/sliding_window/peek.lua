-- Sliding window: reads the state. Writes nothing.
return reply(0, 0, table.concat(redis.call('HGETALL', key), ' '))
