-- Leases tokens from a bucket that processes share, and returns how many this process was granted in all.
--
-- KEYS[1]: the bucket. KEYS[2]: what it knows of this process.
-- ARGV: capacity, tokens per second; and of this process, since it began: tokens earned, tokens spent without asking, tokens
-- wanted, tokens known to be granted. Totals, so that a script whose answer was lost counts once.
local capacity, rate = tonumber(ARGV[1]), tonumber(ARGV[2])
local earned, alone, wanted, granted = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000

-- How long the others may take to come back after nobody could ask, and go by their own parts.
local return_within = 2

local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(bucket[1])
if tokens then
    tokens = tokens + math.max(0, now - tonumber(bucket[2])) * rate
elseif granted > 0 or alone > 0 then
    -- The server lost its data: what the bucket held may be spent already.
    tokens = 0
else
    tokens = capacity
end

local spent_alone
local known = redis.call('HMGET', KEYS[2], 'earned', 'alone', 'granted')
if known[1] then
    local earned_before, alone_before = tonumber(known[1]), tonumber(known[2])
    tokens = tokens + math.max(0, earned - earned_before) - math.max(0, alone - alone_before)
    earned, alone = math.max(earned, earned_before), math.max(alone, alone_before)
    granted = tonumber(known[3])
    spent_alone = alone > alone_before
else
    spent_alone = alone > 0 or granted > 0
end
tokens = math.min(capacity, tokens)
if rate > 0 and spent_alone and (not bucket[1] or now - tonumber(bucket[2]) > 0.25) then
    tokens = math.min(tokens, -rate * return_within)
end
tokens = math.max(-capacity - rate * return_within, tokens)

local given = math.max(0, math.min(wanted - granted, math.floor(tokens)))
granted = granted + given
redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', tokens - given), 'at', string.format('%.6f', now))
redis.call('HSET', KEYS[2], 'earned', string.format('%.17g', earned), 'alone', string.format('%.17g', alone), 'granted',
    string.format('%.0f', granted))
-- Who comes back later than that begins anew.
redis.call('EXPIRE', KEYS[1], 86400)
redis.call('EXPIRE', KEYS[2], 86400)
return granted
