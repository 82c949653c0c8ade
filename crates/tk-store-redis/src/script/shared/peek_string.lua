-- Reads a state that is kept as a string. Writes nothing.
return struct.pack('<I8I8I8', now, 0, 0) .. (call('GET', key) or '')
