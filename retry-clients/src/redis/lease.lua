-- Leases tokens from a bucket that processes share. Returns the total number of tokens granted to this process.
--
-- KEYS[1]: the bucket. KEYS[2]: the data of this process.
-- ARGV[1] contains twelve numbers:
--   1. the capacity, 2. tokens per second,
--   and about this process, as totals since it started, so that a script whose reply was lost counts once:
--   3. tokens earned, 4. tokens spent without Redis, 5. tokens requested, 6. tokens that it knows were granted,
--   7. the number of requested tokens that are granted all at once or not at all, 8. the number of requests,
--   9. tokens earned and 10. tokens spent without Redis at its last reply, 11. 1 after its first reply,
--   12. 1 if this is its last request.
local numbers = {}
for number in string.gmatch(ARGV[1], '%S+') do
    numbers[#numbers + 1] = tonumber(number)
end
local capacity, rate, earned, alone, wanted, granted, together, asks, earned_told, alone_told, is_answered, is_last =
    unpack(numbers)
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000

-- The time in seconds that the other processes have to return after an outage. They used their own parts meanwhile, so
-- nothing is granted until they have reported.
local return_within = 2

local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local known = redis.call('HMGET', KEYS[2], 'earned', 'alone', 'granted', 'asks')
local tokens, at = tonumber(bucket[1]), tonumber(bucket[2])

-- If the server has no data about the process, use the process's own numbers.
local earned_before, alone_before, granted_before = earned_told, alone_told, granted
if known[1] then
    if asks <= tonumber(known[4]) then
        -- A client sent the request twice, or a later one overtook it.
        return tonumber(known[3])
    end
    earned_before, alone_before, granted_before = tonumber(known[1]), tonumber(known[2]), tonumber(known[3])
end
-- The server may have restarted with older data. Tokens that it granted since then count as spent without Redis.
local forgotten = math.max(0, granted - granted_before)
local newly_earned, newly_alone = earned - earned_before, alone - alone_before + forgotten
-- Tokens granted by a script whose reply was lost go back to the bucket. Otherwise the process would use them later, in
-- addition to the tokens that accumulate until then.
local lost = math.max(0, granted_before - granted)
-- If the server lost the bucket, it can't compute how many tokens were spent.
local spent_alone = newly_alone > 0 or not tokens and (alone > 0 or granted > 0 or is_answered == 1)

-- The time for which the number of tokens is computed: later than now while other processes may still return.
local as_of = now
if at then
    -- A clock that was set back must not delay processes.
    at = math.min(at, now + return_within)
    as_of = math.max(now, at)
end
-- After an outage: the last request is older than the interval between a process's requests.
if rate > 0 and spent_alone and (not at or now - at > 0.25 + math.min(1, 1 / rate)) then
    as_of = now + return_within
end
if rate > 0 and (not at or (at > now and not known[1])) then
    -- The server lost the start of the outage together with its data. Assume that the tokens of that time pay for
    -- everything.
    newly_alone = 0
end
if tokens then
    tokens = tokens + (as_of - at) * rate
elseif spent_alone then
    -- The server lost the bucket, and its tokens may already be spent.
    tokens = 0
else
    tokens = capacity
end

-- Tokens spent without Redis are paid from those that accumulated meanwhile, so deduct them before the capacity limits
-- the tokens. The bucket's debt is limited to the tokens that accumulate while other processes return.
tokens = tokens + newly_earned + lost
local owed = rate > 0 and rate * return_within or capacity
tokens = math.max(tokens - newly_alone, math.min(tokens, -owed))

local given = 0
if as_of == now then
    tokens = math.min(capacity, tokens)
    local there = math.floor(tokens)
    if rate == 0 then
        -- Always leave tokens for the next process.
        there = math.min(there, math.ceil(tokens / 10))
    end
    if there >= 1 then
        -- Tokens that must be granted together may leave a debt. Otherwise processes with smaller requests would always
        -- be first.
        given = math.max(0, math.min(wanted - granted, math.max(together, there)))
    end
end
granted = granted + given
redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', tokens - given), 'at', string.format('%.6f', as_of))
redis.call('HSET', KEYS[2], 'earned', string.format('%.17g', earned), 'alone', string.format('%.17g', alone), 'granted',
    string.format('%.0f', granted), 'asks', asks)
-- Processes send a request every hour. A debt is stored until it is paid, for ten years at most.
local day = 86400
local paid = rate > 0 and math.min(math.ceil((capacity - tokens + given) / rate), 3650 * day) or 0
redis.call('EXPIRE', KEYS[1], math.max(day, paid))
redis.call('EXPIRE', KEYS[2], is_last == 1 and 60 or day)
return granted
