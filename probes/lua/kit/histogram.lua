-- The histogram of timing=each. It has constant size; recording makes no object and no floating-point number.
local now = require("machine").now
local whole = require("kit.whole")

-- Below 2^b every value has its own bucket, above it 2^b buckets share a power of two: at most 0.8 % wide.
local BITS, SHARE = 7, 128

-- More than any interval: 73 years.
local MOST, BUCKETS = 2 * 1024 ^ 6, 56 * SHARE

local Histogram = {}
Histogram.__index = Histogram

-- Records an interval that a context read as its first act after it came to run. Then times two readings with nothing
-- in between: what the reading itself adds to every interval.
function Histogram:arrive(interval)
    local first, width, limit, counts, fields = 0, 1, 2 * SHARE, self.counts, self.fields
    while interval >= limit do first, width, limit = first + SHARE, width + width, limit + limit end
    local bucket = first + whole(interval, width)
    counts[bucket] = counts[bucket] + 1
    fields.units, fields.sum = fields.units + 1, fields.sum + interval
    if interval < fields.min then fields.min = interval end
    if interval > fields.max then fields.max = interval end
    local begin = now()
    fields.pair_sum = fields.pair_sum + (now() - begin)
    fields.pair_count = fields.pair_count + 1
end

-- Buckets that are not empty, ascending, as [lower edge, count].
function Histogram:send(writer)
    local buckets, edge, width = {}, 0, 1
    for bucket = 0, BUCKETS do
        if bucket >= 2 * SHARE and bucket % SHARE == 0 then width = width + width end
        if self.counts[bucket] > 0 then table.insert(buckets, { edge, self.counts[bucket] }) end
        edge = edge + width
    end
    writer:send_parts("histogram", self.fields, { buckets = buckets }, 1, #buckets)
    return self.fields.units
end

return function(phase)
    local counts, fields = {}, { phase = phase, bits = BITS, units = 0, sum = 0, min = MOST, max = 0 }
    fields.pair_sum, fields.pair_count = 0, 0
    for bucket = 0, BUCKETS do counts[bucket] = 0 end
    return setmetatable({ counts = counts, fields = fields }, Histogram)
end
