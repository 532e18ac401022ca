//! Where a variant stands during the run.

use std::time::Duration;
use switchcost_analysis::{batch_ns, found};
use switchcost_model::{Invocation, Verdict};

/// State of one variant during the run.
#[derive(Default, Clone)]
pub(crate) struct Progress {
    /// k of the starts to come; 0: not calibrated yet.
    pub(crate) batch_units: u64,
    /// Longest invocation so far.
    pub(crate) longest: Duration,
    /// Time of all of them.
    pub(crate) spent: Duration,
    /// Their number.
    pub(crate) invocations: u64,
    /// The round of the last one, and how many it has had of this variant.
    round: (u64, u64),
    /// Starts in the run so far, those ahead of this pass included.
    pub(crate) stored: u64,
    /// Rounds that it has been through, likewise.
    pub(crate) rounds: u64,
    /// It needs no more, or cannot have more.
    pub(crate) done: bool,
    /// Done only because there is not enough time for it.
    pub(crate) given_up: bool,
}

impl Progress {
    /// Takes note of an invocation, just done or of an earlier session. `batch`: how long a batch
    /// shall last.
    pub(crate) fn add(&mut self, invocation: &Invocation, batch: Duration) {
        let wall = Duration::from_nanos(invocation.wall_ns);
        self.longest = self.longest.max(wall);
        self.spent += wall;
        self.invocations += 1;
        self.round = (invocation.round, self.starts_of(invocation.round) + 1);
        // A variant that cannot run or broke will not do better in the next round; time is for the
        // others.
        self.done |=
            matches!(invocation.judgement.verdict, Verdict::Unsupported | Verdict::Broken) || found(invocation);
        if self.batch_units == 0 {
            self.batch_units = units_that_last(batch, invocation);
        }
    }

    /// Takes note of an invocation that is in the run, whether or not this pass has come to it.
    pub(crate) fn store(&mut self, invocation: &Invocation) {
        self.stored += 1;
        self.rounds = self.rounds.max(invocation.round + 1);
    }

    /// Starts that it has had in this round.
    pub(crate) fn starts_of(&self, round: u64) -> u64 {
        if self.round.0 == round { self.round.1 } else { 0 }
    }

    /// Mean duration of a start; nothing is known before the first.
    pub(crate) fn each(&self) -> Duration {
        self.spent / u32::try_from(self.invocations.max(1)).unwrap_or(u32::MAX)
    }

    /// Leaves it as it is.
    pub(crate) fn give_up(&mut self) {
        self.done = true;
        self.given_up = true;
    }
}

/// A calibrated k is shortened by such parts of itself: what is left is still whole laps, and where
/// a probe checks every eighth lap only, a multiple of eight.
const PARTS: u64 = 8;

/// Units that last as long as a batch shall, by a start whose probe found k by doubling and so has
/// up to twice as many.
fn units_that_last(batch: Duration, calibrated: &Invocation) -> u64 {
    let doubled = calibrated.transcript.plan.as_ref().map_or(0, |echo| echo.batch_units);
    batch_ns(&calibrated.transcript).map_or(doubled, |lasted| shortened(doubled, batch.as_nanos() as f64 / lasted))
}

/// This share of k, rounded up to whole parts; never more than k, and all of it where it has no
/// such parts.
fn shortened(doubled: u64, share: f64) -> u64 {
    let parts = if doubled.is_multiple_of(PARTS) { (share.min(1.0) * PARTS as f64).ceil() as u64 } else { PARTS };
    parts.saturating_mul(doubled) / PARTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_shortened_by_whole_parts_and_never_made_longer() {
        // Batches of 1.9 ms where 1 ms is asked: 4.2 parts of 8, rounded up.
        assert_eq!(shortened(1 << 20, 1.0 / 1.9), 5 << 17);
        assert_eq!([0.5, 0.51, 1.0, 1.7].map(|share| shortened(64, share)), [32, 40, 64, 64]);
        // 100 units have no eighths; nor has one lap of a large ring.
        assert_eq!((shortened(100, 0.5), shortened(3, 0.1), shortened(0, 0.5)), (100, 3, 0));
    }
}
