-- Leases tokens from a bucket that processes share, and returns how many this process was granted in all.
--
-- KEYS[1]: the bucket. KEYS[2]: what it knows of this process.
-- ARGV: capacity, tokens per second; and of this process, since it began: tokens earned, tokens spent without asking, tokens
-- wanted, tokens known to be granted. Totals, so that a script whose answer was lost counts once. Then how many of those
-- wanted do nothing by themselves: all of them or none.
local capacity, rate = tonumber(ARGV[1]), tonumber(ARGV[2])
local earned, alone, wanted, granted = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local together = tonumber(ARGV[7])
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000

-- How long the others may take to come back after nobody could ask, and go by their own parts. Until then nothing is granted.
local return_within = 2

local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local known = redis.call('HMGET', KEYS[2], 'earned', 'alone', 'granted')
local tokens, at = tonumber(bucket[1]), tonumber(bucket[2])

local newly_earned, newly_alone = 0, 0
local spent_alone = alone > 0 or granted > 0
if known[1] then
    local earned_before, alone_before, granted_before = tonumber(known[1]), tonumber(known[2]), tonumber(known[3])
    newly_earned, newly_alone = math.max(0, earned - earned_before), math.max(0, alone - alone_before)
    earned, alone = math.max(earned, earned_before), math.max(alone, alone_before)
    -- What it was granted by a script whose answer was lost.
    together = together - math.max(0, granted_before - granted)
    granted = granted_before
    spent_alone = newly_alone > 0
end

-- The tokens are those of this time: later than now while others may still come back.
local as_of = now
if at then
    -- A clock that was set back holds up nobody.
    at = math.min(at, now + return_within)
    as_of = math.max(now, at)
end
if rate > 0 and spent_alone and (not at or now - at > 0.25) then
    as_of = now + return_within
end
if tokens then
    tokens = tokens + (as_of - at) * rate
elseif spent_alone then
    -- The server lost its data: what the bucket held may be spent already.
    tokens = 0
else
    tokens = capacity
end

-- What was spent alone is paid by the time in which nobody asked, and beyond that by no more than the time that others take to
-- come back. So it is taken away before what is too much for the bucket.
tokens = tokens + newly_earned
local owed = rate > 0 and rate * return_within or capacity
tokens = math.max(tokens - newly_alone, math.min(tokens, -owed))

local given = 0
if as_of == now then
    tokens = math.min(capacity, tokens)
    local there = math.floor(tokens)
    if rate == 0 then
        -- However many processes come, there is something left for the next.
        there = math.min(there, math.ceil(tokens / 10))
    end
    if there >= 1 then
        -- What has to be granted together may leave a debt. Otherwise who wants less would always be first.
        given = math.max(0, math.min(wanted - granted, math.max(together, there)))
    end
end
granted = granted + given
redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', tokens - given), 'at', string.format('%.6f', as_of))
redis.call('HSET', KEYS[2], 'earned', string.format('%.17g', earned), 'alone', string.format('%.17g', alone), 'granted',
    string.format('%.0f', granted))
-- Processes ask every hour.
redis.call('EXPIRE', KEYS[1], 86400)
redis.call('EXPIRE', KEYS[2], 86400)
return granted
