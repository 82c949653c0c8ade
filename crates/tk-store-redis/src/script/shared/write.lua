-- For scripts that write more than once. A command may be refused to the user who calls, and whoever is told so takes it that nothing was
-- written: an error of any but the first says otherwise.
local written = false

local function write(...)
  if not written then
    redis.call(...)
    written = true
    return
  end
  local answer = redis.pcall(...)
  if type(answer) == 'table' and answer.err then
    error('TKPARTLY ' .. answer.err, 0)
  end
end
