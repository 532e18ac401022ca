//! What waits in experiment wakeup for times that are fixed beforehand, one a period, and says of
//! each how much later it ran.

use crate::clock::now;
use crate::histogram::Histogram;
use crate::os::current_cpu;
use crate::plan::Parameter;
use std::collections::BTreeSet;
use std::time::Duration;

/// µs between two intended times.
pub const PERIOD: Parameter = Parameter { name: "period", words: &[] };

/// The times do not move when the context was late: what one wake-up found due is counted from its
/// own time, each.
#[derive(Debug)]
pub struct Waiter {
    first: u64,
    period: u64,
    /// Of a batch.
    units: u64,
    /// Where each phase ends.
    ends: [u64; 2],
    pub(crate) histograms: [Box<Histogram>; 2],
    /// When the phase began.
    began: u64,
    /// Times so far; the number of the next one.
    pub(crate) served: u64,
    of_this_wake: u64,
    /// Wake-ups that found more than one time due.
    pub(crate) several: i64,
    pub(crate) cpus: BTreeSet<u32>,
}

impl Waiter {
    pub(crate) fn new(period: u64, units: u64, warmup_batches: u64, batches: u64) -> Self {
        Self {
            first: 0,
            period,
            units,
            ends: [warmup_batches * units, (warmup_batches + batches) * units],
            histograms: [Histogram::new(), Histogram::new()],
            began: 0,
            served: 0,
            of_this_wake: 0,
            several: 0,
            cpus: BTreeSet::new(),
        }
    }

    pub(crate) fn begin(&mut self, now: u64) {
        (self.began, self.first) = (now, now + self.period);
    }

    /// How long to wait for the next time. None: that was the last one. To be called again after
    /// the wait.
    pub fn left(&mut self) -> Option<Duration> {
        self.left_by(now)
    }

    fn left_by(&mut self, clock: impl Fn() -> u64) -> Option<Duration> {
        while self.served < self.ends[1] {
            let (now, due) = (clock(), self.first + self.served * self.period);
            if now < due {
                self.several += i64::from(self.of_this_wake > 1);
                self.of_this_wake = 0;
                return Some(Duration::from_nanos(due - now));
            }
            let phase = usize::from(self.served >= self.ends[0]);
            self.histograms[phase].record(now - due);
            self.served += 1;
            self.of_this_wake += 1;
            if self.served % self.units == 0 {
                self.cpus.extend(current_cpu());
            }
            if self.ends.contains(&self.served) {
                self.histograms[phase].span_clock = now - self.began;
                self.began = now;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A wake-up 3.5 periods late serves four times, each late by another length; the next times
    /// stay where they were.
    #[test]
    fn latencies_count_from_the_intended_times() {
        let mut waiter = Waiter::new(100, 1, 2, 5);
        let clock = Cell::new(1000);
        waiter.begin(clock.get());
        let mut slept = Vec::new();
        let mut oversleeps = [0, 350, 20, 0].into_iter();
        while let Some(left) = waiter.left_by(|| clock.get()) {
            slept.push(left.as_nanos() as u64);
            clock.set(clock.get() + slept[slept.len() - 1] + oversleeps.next().unwrap());
        }
        assert_eq!((slept, clock.get()), (vec![100, 100, 50, 80], 1700));
        let [warmup, measure] = &waiter.histograms;
        assert_eq!((warmup.units, warmup.sum, warmup.max), (2, 350, 350));
        assert_eq!((measure.units, measure.sum, measure.max), (5, 250 + 150 + 50 + 20, 250));
        assert_eq!((waiter.served, waiter.several), (7, 1));
    }
}
