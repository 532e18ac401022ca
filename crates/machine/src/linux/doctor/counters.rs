//! Whether the time stamp counters of the CPUs agree: `timing=each` reads that of one CPU before a
//! switch and may read that of another after it.

use crate::cpus::on_cpu;
use crate::os::sys;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Questions that one CPU asks another.
const QUESTIONS: u64 = 2000;

/// After so long no more is asked: the other CPU is busy.
const PATIENCE: Duration = Duration::from_millis(20);

/// By how much the counters of some CPUs differ from that of another, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Gap {
    /// At least: the greatest difference that is proved.
    pub least: f64,
    /// At most: the greatest that cannot be ruled out.
    pub most: f64,
}

/// The gap between a CPU and all others; None where no other answered, or there are no counters.
pub(crate) fn gap(cpu: u32, others: &[u32]) -> Option<Gap> {
    let gaps = others.iter().filter(|other| **other != cpu).filter_map(|&other| between(cpu, other));
    gaps.reduce(|a, b| Gap { least: a.least.max(b.least), most: a.most.max(b.most) })
}

/// One CPU asks, the other answers with its counter, which lies between the asker's readings before
/// and after: each exchange bounds the difference from both sides, and all of them hold.
fn between(asker: u32, answerer: u32) -> Option<Gap> {
    let (question, answer, reading) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let over = AtomicBool::new(false);
    let answering = || {
        for number in 1..=QUESTIONS {
            while question.load(Ordering::Acquire) != number {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                std::hint::spin_loop();
            }
            reading.store(sys::tsc().unwrap_or_default(), Ordering::Relaxed);
            answer.store(number, Ordering::Release);
        }
    };
    let asking = || {
        let (began, origin) = (Instant::now(), sys::tsc()?);
        let (mut low, mut high) = (i64::MIN, i64::MAX);
        'asking: for number in 1..=QUESTIONS {
            let before = sys::tsc()?;
            question.store(number, Ordering::Release);
            while answer.load(Ordering::Acquire) != number {
                if began.elapsed() > PATIENCE {
                    break 'asking;
                }
            }
            let (after, other) = (sys::tsc()?, reading.load(Ordering::Relaxed));
            low = low.max(other.wrapping_sub(after).cast_signed());
            high = high.min(other.wrapping_sub(before).cast_signed());
        }
        let ns_per_tick = began.elapsed().as_nanos() as f64 / sys::tsc()?.wrapping_sub(origin) as f64;
        (low <= high && low != i64::MIN).then(|| {
            let (low, high) = (low as f64 * ns_per_tick, high as f64 * ns_per_tick);
            Gap { least: low.max(-high).max(0.0), most: low.abs().max(high.abs()) }
        })
    };
    std::thread::scope(|scope| {
        let answers = std::thread::Builder::new().spawn_scoped(scope, || on_cpu(answerer, answering)).ok()?;
        let found = on_cpu(asker, asking).flatten();
        over.store(true, Ordering::Relaxed);
        answers.join().ok().flatten()?;
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_agrees_with_itself_and_nobody_else_is_asked() {
        assert_eq!(gap(0, &[0]), None);
    }

    #[test]
    fn what_is_proved_is_no_more_than_what_is_possible() {
        let cpus = crate::cpus::Cpus::detect().unwrap();
        if let Some(Gap { least, most }) = gap(cpus.measured(), cpus.allowed()) {
            assert!(0.0 <= least && least <= most && most.is_finite(), "{least} {most}");
        }
    }
}
