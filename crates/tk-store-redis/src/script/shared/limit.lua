-- ARGV[5]  the limit
local limit = ARGV[5] + 0
