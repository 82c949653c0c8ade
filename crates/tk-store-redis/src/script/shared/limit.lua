-- arg[5]  the limit
local limit = arg[5]
