package switchcost.kit;

/** Intervals of timing=each. Of constant size, so that recording never allocates. */
public final class Histogram {

    /**
     * b of PROTOCOL.md: below 2^b every value has its own bucket, above it 2^b buckets share a power of two, so that a
     * bucket is at most 0.8 % wide.
     */
    public static final int BITS = 7;

    final long[] counts = new long[((64 - BITS) << BITS) + (1 << BITS)];
    public long count;
    long sum;
    long min = Long.MAX_VALUE;
    long max;
    long pairSum;
    long pairCount;
    long span;
    /** Intervals that ended before they began: none, with a clock that is monotonic. */
    long backwards;

    static int bucketOf(long value) {
        int shift = 63 - Long.numberOfLeadingZeros((value >>> BITS) | 1);
        return (shift << BITS) + (int) (value >>> shift);
    }

    static long lowerEdge(int bucket) {
        int shift = (bucket >> BITS) - 1;
        return shift <= 0 ? bucket : (long) (bucket - (shift << BITS)) << shift;
    }

    /**
     * Called by a context as its first act after it came to run; `sent` is the counter as read by the sender. It also
     * times two readings with nothing in between: what the reading itself adds to every interval.
     */
    public void arrive(long sent) {
        long interval = System.nanoTime() - sent;
        if (interval < 0) {
            backwards++;
            return;
        }
        record(interval);
        long first = System.nanoTime();
        pairSum += System.nanoTime() - first;
        pairCount++;
    }

    /** Without such readings. */
    void record(long interval) {
        counts[bucketOf(interval)]++;
        count++;
        sum += interval;
        min = Math.min(min, interval);
        max = Math.max(max, interval);
    }
}
