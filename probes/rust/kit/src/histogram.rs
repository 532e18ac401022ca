//! Intervals of `timing=each` in buckets of constant number, so that recording never allocates.

use crate::clock::read_counter;
use serde::Serialize;

/// b of PROTOCOL.md: below 2^b every value has its own bucket, above it 2^b buckets share a power
/// of two, so that a bucket is at most 0.8 % wide.
pub(crate) const BITS: u32 = 7;
const BUCKETS: usize = (66 - BITS as usize) << BITS;

/// Intervals of one phase.
#[derive(Debug, Serialize)]
pub struct Histogram {
    #[serde(skip)]
    counts: [u64; BUCKETS],
    /// Recorded intervals.
    pub(crate) units: u64,
    pub(crate) sum: u64,
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) pair_sum: u64,
    pub(crate) pair_count: u64,
    pub(crate) span_counter: u64,
    pub(crate) span_clock: u64,
    /// Intervals and pairs that ended before they began: none, unless counters of two CPUs are out
    /// of step.
    #[serde(skip)]
    pub(crate) backwards: u64,
}

impl Histogram {
    /// An empty histogram; its pages are touched.
    #[must_use]
    pub fn new() -> Box<Self> {
        Box::new(Self {
            counts: std::hint::black_box([0; BUCKETS]),
            units: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
            pair_sum: 0,
            pair_count: 0,
            span_counter: 0,
            span_clock: 0,
            backwards: 0,
        })
    }

    /// Called by a context as its first act after it came to run: `sent` is the counter as the
    /// sender read it. It also times two readings with nothing in between: what the reading itself
    /// adds to every interval.
    #[inline]
    pub fn arrive(&mut self, sent: u64) {
        self.arrived(sent, read_counter());
    }

    /// The same for a context that must take a lock between its reading and the recording.
    pub fn arrived(&mut self, sent: u64, arrived: u64) {
        let Some(interval) = arrived.checked_sub(sent) else {
            self.backwards += 1;
            return;
        };
        self.record(interval);
        let first = read_counter();
        match read_counter().checked_sub(first) {
            Some(pair) => self.pair_sum += pair,
            None => self.backwards += 1,
        }
        self.pair_count += 1;
    }

    #[inline]
    pub(crate) fn record(&mut self, interval: u64) {
        self.counts[bucket_of(interval)] += 1;
        self.units += 1;
        self.sum += interval;
        self.min = self.min.min(interval);
        self.max = self.max.max(interval);
    }

    /// What is not empty, ascending: lower edge, count.
    pub(crate) fn buckets(&self) -> Vec<(u64, u64)> {
        let all = self.counts.iter().enumerate();
        all.filter(|(_, &count)| count > 0).map(|(bucket, &count)| (lower_edge(bucket), count)).collect()
    }
}

fn bucket_of(value: u64) -> usize {
    let shift = (value >> BITS | 1).ilog2();
    ((shift as usize) << BITS) + (value >> shift) as usize
}

fn lower_edge(bucket: usize) -> u64 {
    match bucket >> BITS {
        0 | 1 => bucket as u64,
        above => ((bucket - ((above - 1) << BITS)) as u64) << (above - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_keep_their_promise() {
        let mut random = 88_172_645_463_325_252_u64;
        for i in 0..100_000 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let value = random >> (i % 64);
            let bucket = bucket_of(value);
            let edge = lower_edge(bucket);
            assert!(edge <= value && bucket_of(edge) == bucket, "{value}: bucket {bucket} begins at {edge}");
            assert!(edge == 0 || bucket_of(edge - 1) == bucket - 1, "{value}");
            assert!(value >= 1 << BITS || edge == value, "{value} is not exact");
            assert!(value - edge <= edge >> BITS, "{value}: bucket at {edge} is too wide");
        }
        assert!(bucket_of(u64::MAX) < BUCKETS);
    }

    #[test]
    fn negative_intervals_are_counted_and_not_recorded() {
        let mut histogram = Histogram::new();
        histogram.arrived(100, 99);
        histogram.arrived(100, 100);
        assert_eq!((histogram.backwards, histogram.units, histogram.sum), (1, 1, 0));
    }
}
