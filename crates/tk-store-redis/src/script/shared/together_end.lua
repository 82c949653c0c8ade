end
local replies = {}
for i = 1, #KEYS do
  local done, reply = pcall(decide, KEYS[i], ARGV[i])
  if done and type(reply) == 'string' then
    replies[i] = reply
  else
    replies[i] = { type(reply) == 'table' and reply.err or tostring(reply) }
  end
end
return replies
