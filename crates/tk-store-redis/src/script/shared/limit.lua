-- arg5  the limit
local limit = arg5
