"""The histogram of timing=each. It has constant size; recording makes no object that stays."""

from .clock import now


class Histogram:
    """Intervals in ticks of the counter."""

    # Below 2^b every value has its own bucket, above it 2^b buckets share a power of two: at most 0.8 % wide.
    BITS = 7

    def __init__(self):
        self.counts = [0] * ((65 - self.BITS << self.BITS) + (1 << self.BITS))
        self.count = self.sum = self.max = 0
        self.min = (1 << 63) - 1
        self.pair_sum = self.pair_count = 0
        self.span_counter = self.span_clock = 0

    def arrive(self, interval):
        """Records an interval that a context read as its first act after it came to run. Then times two readings with
        nothing in between: what the reading itself adds to every interval."""
        self.record(interval)
        first = now()
        self.pair_sum += now() - first
        self.pair_count += 1

    def record(self, interval):
        """Without such readings."""
        shift = (interval >> self.BITS | 1).bit_length() - 1
        self.counts[(shift << self.BITS) + (interval >> shift)] += 1
        self.count += 1
        self.sum += interval
        if interval < self.min:
            self.min = interval
        if interval > self.max:
            self.max = interval

    def lower_edge(self, bucket):
        """Smallest value of a bucket."""
        shift = max((bucket >> self.BITS) - 1, 0)
        return bucket - (shift << self.BITS) << shift

    def buckets(self):
        """What is not empty, ascending, as [lower edge, count]."""
        return [[self.lower_edge(bucket), count] for bucket, count in enumerate(self.counts) if count]
