-- The histogram of timing=each. It has constant size; recording makes no object and no floating-point number.
local now = require("machine").now

-- Below 2^b every value has its own bucket, above it 2^b buckets share a power of two: at most 0.8 % wide.
local BITS <const> = 7

local Histogram = {}
Histogram.__index = Histogram

-- Records an interval that a context read as its first act after it came to run. Then times two readings with nothing
-- in between: what the reading itself adds to every interval.
function Histogram:arrive(interval)
    local shift, high, counts, fields = 0, interval >> BITS, self.counts, self.fields
    while high > 1 do high, shift = high >> 1, shift + 1 end
    local bucket = (shift << BITS) + (interval >> shift)
    counts[bucket] = counts[bucket] + 1
    fields.units, fields.sum = fields.units + 1, fields.sum + interval
    if interval < fields.min then fields.min = interval end
    if interval > fields.max then fields.max = interval end
    local first = now()
    fields.pair_sum = fields.pair_sum + (now() - first)
    fields.pair_count = fields.pair_count + 1
end

-- Buckets that are not empty, ascending, as [lower edge, count].
function Histogram:send(writer)
    local buckets = {}
    for bucket = 0, #self.counts do
        local shift, count = math.max((bucket >> BITS) - 1, 0), self.counts[bucket]
        if count > 0 then table.insert(buckets, { (bucket - (shift << BITS)) << shift, count }) end
    end
    writer:send_parts("histogram", self.fields, { buckets = buckets }, 1, #buckets)
    return self.fields.units
end

return function(phase)
    local counts, fields = {}, { phase = phase, bits = BITS, units = 0, sum = 0, min = math.maxinteger, max = 0 }
    fields.pair_sum, fields.pair_count = 0, 0
    for bucket = 0, (65 - BITS) << BITS do counts[bucket] = 0 end
    return setmetatable({ counts = counts, fields = fields }, Histogram)
end
