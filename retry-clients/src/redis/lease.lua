-- Leases tokens from a bucket that processes share, and returns how many this process was granted in all.
--
-- KEYS[1]: the bucket. KEYS[2]: what it knows of this process.
-- ARGV[1], numbers: capacity, tokens per second; and of this process, since it began: tokens earned, tokens spent without
-- asking, tokens wanted, tokens known to be granted. Totals, so that a script whose answer was lost counts once. Then how many
-- of those wanted do nothing by themselves: all of them or none. How often it has asked. What it had earned and spent as of the
-- last answer, and whether there was one. Whether it asks for the last time.
local numbers = {}
for number in string.gmatch(ARGV[1], '%S+') do
    numbers[#numbers + 1] = tonumber(number)
end
local capacity, rate, earned, alone, wanted, granted, together, asks, earned_told, alone_told, is_answered, is_last =
    unpack(numbers)
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000

-- How long the others may take to come back after nobody could ask, and go by their own parts. Until then nothing is granted.
local return_within = 2

local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local known = redis.call('HMGET', KEYS[2], 'earned', 'alone', 'granted', 'asks')
local tokens, at = tonumber(bucket[1]), tonumber(bucket[2])

-- Of a process that the server doesn't know, or no longer: what it says.
local earned_before, alone_before, granted_before = earned_told, alone_told, granted
if known[1] then
    if asks <= tonumber(known[4]) then
        -- A client sent it twice, or a later one overtook it.
        return tonumber(known[3])
    end
    earned_before, alone_before, granted_before = tonumber(known[1]), tonumber(known[2]), tonumber(known[3])
end
-- The server may have come back with older data. What it granted since then is spent, as if without asking.
local forgotten = math.max(0, granted - granted_before)
local newly_earned, newly_alone = earned - earned_before, alone - alone_before + forgotten
-- What it was granted by a script whose answer it didn't get goes back: it would begin that much later, on top of what comes
-- until then.
local lost = math.max(0, granted_before - granted)
-- Without its bucket, the server can't know how much of it this was.
local spent_alone = newly_alone > 0 or not tokens and (alone > 0 or granted > 0 or is_answered == 1)

-- The tokens are those of this time: later than now while others may still come back.
local as_of = now
if at then
    -- A clock that was set back holds up nobody.
    at = math.min(at, now + return_within)
    as_of = math.max(now, at)
end
-- Longer than processes take between two asks.
if rate > 0 and spent_alone and (not at or now - at > 0.25 + math.min(1, 1 / rate)) then
    as_of = now + return_within
end
if rate > 0 and (not at or (at > now and not known[1])) then
    -- With its data, the server lost for how long nobody could ask: that time has paid.
    newly_alone = 0
end
if tokens then
    tokens = tokens + (as_of - at) * rate
elseif spent_alone then
    -- The server lost the bucket: what it held may be spent already.
    tokens = 0
else
    tokens = capacity
end

-- What was spent alone is paid by the time in which nobody asked, so it is taken away before what is too much for the bucket.
-- Beyond that, it leaves the bucket owing no more than comes in the time that others take to come back.
tokens = tokens + newly_earned + lost
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
    string.format('%.0f', granted), 'asks', asks)
-- Processes ask every hour. A debt is kept until it is paid, and ten years at most.
local day = 86400
local paid = rate > 0 and math.min(math.ceil((capacity - tokens + given) / rate), 3650 * day) or 0
redis.call('EXPIRE', KEYS[1], math.max(day, paid))
redis.call('EXPIRE', KEYS[2], is_last == 1 and 60 or day)
return granted
