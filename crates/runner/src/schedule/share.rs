//! Who waits where the time left is not enough for all.

use super::Schedule;
use std::time::Duration;
use switchcost_analysis::{At, FEWEST_STARTS, LOOKS, summarise};

/// Starts that an interval needs. The time left is shared out so that as many rows as possible get
/// them.
const FEWEST: u64 = FEWEST_STARTS as u64;

/// A row is slow where its starts last this many times as long as the usual row's: it costs as much
/// as so many others.
const SLOW: u32 = 4;

/// What the rows that go on are to reach.
struct Goal {
    /// Rounds.
    rounds: u64,
    /// Starts from which on a slow row may be made to wait for the others; None: any row may, the
    /// most expensive first.
    after: Option<u64>,
}

/// A row that goes on.
struct Live {
    index: usize,
    /// Mean duration of its starts so far.
    each: Duration,
    /// Starts so far.
    starts: u64,
    /// Rounds so far.
    rounds: u64,
    /// Starts in a round, those that were repeated because something disturbed them included.
    in_a_round: u64,
}

impl Live {
    /// It has the starts that the goal asks of a row with one in a round.
    fn has(&self, goal: &Goal) -> bool {
        self.starts >= goal.rounds
    }

    /// Time that it takes until the goal; until it has its interval, for those rounds that this
    /// takes.
    fn takes(&self, goal: &Goal) -> Duration {
        let lacking = goal.rounds.saturating_sub(self.starts).div_ceil(self.in_a_round);
        let rounds =
            if goal.after.is_some() || self.has(goal) { goal.rounds.saturating_sub(self.rounds) } else { lacking };
        self.each.saturating_mul(u32::try_from(rounds * self.in_a_round).unwrap_or(u32::MAX))
    }
}

impl Schedule<'_> {
    /// Starts that a row needs: for an interval, or as many as are asked for if those are fewer.
    pub(super) fn fewest(&self) -> u64 {
        self.request.rounds.unwrap_or(FEWEST).clamp(1, FEWEST)
    }

    /// After a round: makes rows wait while the rest cannot all get what they need in the time
    /// left. First that is their interval, then the starts of the first look, then those of the
    /// last: a few slow rows must not keep all others from it. Who waits goes on when the others
    /// are done.
    pub(super) fn share_out(&mut self, rounds_done: u64) {
        let mut goals = vec![Goal { rounds: self.fewest(), after: None }];
        if let (None, [(first, _), .., (last, _)]) = (self.request.rounds, LOOKS) {
            goals.push(Goal { rounds: first, after: Some(FEWEST) });
            goals.push(Goal { rounds: last, after: Some(first) });
        }
        for goal in goals.into_iter().filter(|goal| goal.rounds > rounds_done) {
            let live = (0..self.progress.len()).filter(|index| !self.run.not_run.contains_key(index));
            let live: Vec<Live> =
                live.filter(|&index| !self.progress[index].done).map(|index| self.live(index)).collect();
            for index in waiting(&live, self.left(), &goal) {
                self.progress[index].give_up();
            }
        }
    }

    fn live(&self, index: usize) -> Live {
        let progress = &self.progress[index];
        let in_a_round = in_a_round(self.starts_in_a_round(index), progress.stored, progress.rounds);
        Live { index, each: progress.each(), starts: progress.stored, rounds: progress.rounds, in_a_round }
    }

    /// A row waits without an interval, and the time left is enough for it: the others took less
    /// than was to be expected.
    pub(super) fn one_fits(&self) -> bool {
        let goal = Goal { rounds: self.fewest(), after: None };
        let left = self.left();
        let given_up = (0..self.progress.len()).filter(|index| self.progress[*index].given_up);
        given_up.map(|index| self.live(index)).any(|row| !row.has(&goal) && row.starts > 0 && row.takes(&goal) < left)
    }

    /// It has as many starts as a first look takes, and they fall into modes: more would not make
    /// one number of it.
    pub(super) fn has_modes(&self, index: usize) -> bool {
        let variant = &self.run.variants[index];
        let enough = LOOKS.first().is_some_and(|(starts, _)| self.progress[index].stored >= *starts);
        let starts = || self.run.invocations.iter().filter(|start| start.variant == index).collect::<Vec<_>>();
        enough && variant.placement.may_move() && !summarise(variant, &starts(), At::Median).modes.is_empty()
    }
}

/// Starts that the next round of a row will take: those planned, or as many as its rounds have
/// taken where starts had to be repeated.
fn in_a_round(planned: u64, stored: u64, rounds: u64) -> u64 {
    planned.max(stored.div_ceil(rounds.max(1)))
}

/// Those of the rows that have to wait, so that the others reach the goal. One row at least goes
/// on.
fn waiting(live: &[Live], left: Duration, goal: &Goal) -> Vec<usize> {
    let mut needed: Duration = live.iter().map(|row| row.takes(goal)).sum();
    let mut each: Vec<Duration> = live.iter().map(|row| row.each).collect();
    each.sort_unstable();
    let usual = each.get(each.len() / 2).copied().unwrap_or_default();
    let may_wait =
        |row: &&Live| goal.after.is_none_or(|after| row.starts >= after && row.each > usual.saturating_mul(SLOW));
    let takes_time = |row: &&Live| !row.takes(goal).is_zero();
    let mut candidates: Vec<&Live> = live.iter().filter(takes_time).filter(may_wait).collect();
    // What has its interval already goes before what would never have one.
    candidates.sort_by_key(|row| (goal.after.is_none() && row.has(goal), row.takes(goal), row.index));
    let mut waiting = Vec::new();
    while needed > left
        && waiting.len() + 1 < live.len()
        && let Some(row) = candidates.pop()
    {
        needed = needed.saturating_sub(row.takes(goal));
        waiting.push(row.index);
    }
    waiting
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Goal = Goal { rounds: 6, after: None };
    const LAST: Goal = Goal { rounds: 40, after: Some(10) };
    const NONE: [usize; 0] = [];

    /// After so many rounds.
    fn row(index: usize, ms: u64, rounds: u64, in_a_round: u64) -> Live {
        Live { index, each: Duration::from_millis(ms), starts: rounds * in_a_round, rounds, in_a_round }
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Durations as in a ladder with 10 batches a start: 28 usual rows, one that the scheduler
    /// places, one with a slow runtime.
    fn ladder(rounds: u64) -> Vec<Live> {
        let usual = (0..28).map(|index| row(index, 25, rounds, 1));
        usual.chain([row(28, 130, rounds, 4), row(29, 1200, rounds, 1)]).collect()
    }

    #[test]
    fn a_row_whose_six_starts_do_not_fit_waits_and_the_others_get_theirs() {
        assert_eq!(waiting(&ladder(1), seconds(6), &INTERVAL), [29]);
        assert_eq!(waiting(&ladder(1), seconds(11), &INTERVAL), NONE);
    }

    #[test]
    fn a_row_that_has_its_interval_waits_before_one_that_would_never_have_one() {
        // Four rounds more: 2.8 s for the usual rows, 2.1 s for the placed one, which has 8 starts
        // already, 4.8 s for the slow one.
        assert_eq!(waiting(&ladder(2), seconds(8), &INTERVAL), [28]);
        assert_eq!(waiting(&ladder(2), seconds(6), &INTERVAL), [28, 29]);
    }

    #[test]
    fn slow_rows_wait_after_the_first_look_if_not_all_can_reach_the_last() {
        assert_eq!(waiting(&ladder(10), seconds(30), &LAST), [29, 28]);
        assert_eq!(waiting(&ladder(10), seconds(60), &LAST), [29]);
        assert_eq!(waiting(&ladder(10), seconds(90), &LAST), NONE);
        // Before its first look none does.
        assert_eq!(waiting(&ladder(9), seconds(30), &LAST), [28]);
    }

    #[test]
    fn usual_rows_never_wait_for_one_another_once_they_have_an_interval() {
        let usual: Vec<Live> = (0..9).map(|index| row(index, 50 + index as u64, 20, 1)).collect();
        assert_eq!(waiting(&usual, seconds(1), &LAST), NONE);
        assert_eq!(waiting(&[row(0, 1200, 12, 1)], seconds(1), &LAST), NONE);
        assert_eq!(waiting(&[], seconds(0), &INTERVAL), NONE);
    }

    #[test]
    fn one_row_goes_on_however_little_time_there_is() {
        assert_eq!(waiting(&ladder(1), seconds(0), &INTERVAL).len(), 29);
    }

    #[test]
    fn repeated_starts_are_expected_to_be_repeated_again() {
        assert_eq!(in_a_round(1, 0, 0), 1);
        assert_eq!(in_a_round(4, 12, 3), 4);
        // 7 starts in 3 rounds of one: the next round may take three.
        assert_eq!(in_a_round(1, 7, 3), 3);
        let repeated = |starts| Live { starts, in_a_round: in_a_round(1, starts, 3), ..row(0, 100, 3, 1) };
        assert_eq!(repeated(3).takes(&LAST), Duration::from_millis(37 * 100));
        assert_eq!(repeated(9).takes(&LAST), Duration::from_millis(37 * 3 * 100));
        // Two starts lack, which one round of two brings.
        assert_eq!(repeated(4).takes(&INTERVAL), Duration::from_millis(2 * 100));
    }

    #[test]
    fn what_is_measured_already_takes_no_time() {
        let mut rows = ladder(6);
        rows.pop();
        rows.push(row(29, 120, 1, 1));
        assert_eq!(waiting(&rows, seconds(1), &INTERVAL), NONE);
    }
}
