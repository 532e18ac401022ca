//! Rows measured now beside those of a baseline.

use core::time::Duration;
use std::collections::BTreeMap;
use switchcost_analysis::number::percent;
use switchcost_analysis::{
    Analysis, Comparison, Gate, GateOutcome, Place, Row, Side, THRESHOLD, Why, common, comparable, methods_differ,
    usable, verdicts,
};
use switchcost_report::{incomparable, methods, reason};

/// Starts of each row in a pass: enough for an interval of several rows at once.
pub const ROUNDS: u64 = 8;

/// What a start may take in a pass beside that of the baseline: disturbed starts are repeated.
const SLACK: f64 = 1.4;

/// How a row stands beside the baseline's in one pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Judged {
    /// A larger increase is excluded.
    Passed,
    /// It costs more: by how much.
    Failed(String),
    /// Neither, and why.
    Open(String),
}

impl Judged {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Passed => "passed",
            Self::Failed(text) | Self::Open(text) => text,
        }
    }

    fn of(comparison: &Comparison, gate: f64) -> Self {
        let alone = Gate::new(gate, &[("it", comparison)], 0, None);
        let more = comparison.cost() - 1.0;
        let by = format!("{}{}", if more < 0.0 { "-" } else { "+" }, percent(more.abs()));
        match alone.outcome {
            GateOutcome::Passed => Self::Passed,
            GateOutcome::Failed => Self::Failed(by),
            GateOutcome::Inconclusive => {
                let why = comparison.why.as_ref().map(as_of_here);
                Self::Open(why.unwrap_or_else(|| format!("{by}, uncertain")))
            }
        }
    }
}

/// A reason of `compare`, whose B is this node and whose A is the baseline.
fn as_of_here(why: &Why) -> String {
    match why {
        Why::Unusable { side: Side::B, reason } | Why::Unsettled { side: Side::B, reason } => reason.clone(),
        Why::Unusable { side: Side::A, reason } | Why::Unsettled { side: Side::A, reason } => {
            format!("in the baseline {reason}")
        }
        other => reason(other),
    }
}

/// One pass over rows of a baseline.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pass {
    rows: Vec<(String, Judged)>,
}

impl Pass {
    /// Judges rows of the baseline, the first of `runs`, by what was measured now, the second, and
    /// by the rules of `compare --gate`.
    #[must_use]
    pub fn new(runs: &[Analysis<'_>; 2], rows: &[usize], gate: f64) -> Self {
        let [baseline, now] = runs;
        let rows: Vec<&Row<'_>> = baseline.rows.iter().filter(|row| rows.contains(&row.index)).collect();
        let all = |reason: &str| Self {
            rows: rows.iter().map(|row| (row.label.clone(), Judged::Open(reason.to_owned()))).collect(),
        };
        if methods_differ(baseline.run, now.run) {
            return all(&methods(baseline.run, now.run));
        }
        let measured: Vec<&Row<'_>> = now.rows.iter().collect();
        let pairs = common(&rows, &measured, false).pairs;
        let mut places: Vec<(Place<'_, '_>, Place<'_, '_>)> = Vec::new();
        let mut found: Vec<(String, Judged)> = Vec::new();
        for row in &rows {
            let pair = pairs.iter().find(|(a, _)| a.index == row.index).copied();
            match pair.map(|(a, b)| comparable(a, b).map(|()| ((0, a), (1, b)))) {
                Some(Ok(place)) => places.push(place),
                Some(Err(why)) => found.push((row.label.clone(), Judged::Open(as_of_here(&why)))),
                None => found.push((row.label.clone(), Judged::Open("was not measured".to_owned()))),
            }
        }
        let judged = match verdicts(&places, runs, THRESHOLD.min(gate)) {
            Ok(judged) => judged,
            Err(pair) => return all(&incomparable(&pair)),
        };
        if let Some((run, reason)) = judged.unstable.first() {
            return all(&format!("run {run} is unstable: {reason}"));
        }
        let judged = places.iter().zip(&judged.comparisons);
        found.extend(judged.map(|((a, _), comparison)| (a.1.label.clone(), Judged::of(comparison, gate))));
        Self { rows: found }
    }

    /// Labels of its rows.
    pub(super) fn labels(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|(label, _)| label.as_str())
    }

    /// How a row stands.
    pub(super) fn of(&self, label: &str) -> Option<&Judged> {
        self.rows.iter().find(|(other, _)| other == label).map(|(_, judged)| judged)
    }

    /// Whether this row of the baseline did not pass.
    #[must_use]
    pub fn is_open(&self, label: &str) -> bool {
        self.of(label).is_some_and(|judged| *judged != Judged::Passed)
    }
}

/// Rows of a baseline, by their variants, that a pass of this length can judge: those whose own
/// scatter leaves room within the gate, the cheapest of each family first, then the next.
#[must_use]
pub fn measured_rows(baseline: &Analysis<'_>, gate: f64, time: Duration) -> Vec<usize> {
    let starts = baseline.run.starts();
    let cost = |row: &Row<'_>| {
        let walls: Vec<u64> = starts.get(row.index).into_iter().flatten().map(|start| start.wall_ns).collect();
        Duration::from_nanos(walls.iter().sum::<u64>() / (walls.len().max(1) as u64))
    };
    let steady = |row: &&Row<'_>| {
        let figure = row.figure(row.basis()).map(|figure| figure.0);
        let reach = row.another_run().zip(figure).map(|((_, high), median)| high / median - 1.0);
        !row.variant.is_twin() && usable(row).is_ok() && reach.is_some_and(|reach| reach < gate)
    };
    let mut rows: Vec<(Duration, &Row<'_>)> = baseline.rows.iter().filter(steady).map(|row| (cost(row), row)).collect();
    rows.sort_by_key(|(cost, row)| (*cost, row.index));
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, Duration, usize)> = Vec::new();
    for (cost, row) in rows {
        let rank = met.entry(row.variant.mechanism.family()).or_default();
        ranked.push((*rank, cost, row.index));
        *rank += 1;
    }
    ranked.sort_unstable();
    let mut left = time;
    let mut chosen = Vec::new();
    for (_, cost, index) in ranked {
        let pass = cost.mul_f64(ROUNDS as f64 * SLACK);
        if pass <= left {
            left -= pass;
            chosen.push(index);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::super::{Fitness, FitnessWord};
    use super::*;

    fn pass(judged: Judged) -> Pass {
        Pass { rows: vec![("thread/pipe".to_owned(), judged)] }
    }

    fn after(passes: &[Pass]) -> Fitness {
        let mut fitness = Fitness::default();
        fitness.add_passes(passes, 0.1);
        fitness
    }

    #[test]
    fn a_row_is_unfit_only_if_it_fails_in_both_passes() {
        let failed = || pass(Judged::Failed("+20 %".into()));
        let open = || pass(Judged::Open("other programs disturbed 5 of its 8 starts".into()));
        let twice = after(&[failed(), failed()]);
        assert_eq!((twice.word(), twice.reasons()), (FitnessWord::NotFit, &["thread/pipe +20 %".to_owned()][..]));
        for passes in [vec![failed()], vec![failed(), open()], vec![open(), failed()], vec![open(), open()]] {
            assert_eq!(after(&passes).word(), FitnessWord::CannotTell, "{passes:?}");
        }
        for passes in [vec![pass(Judged::Passed)], vec![failed(), pass(Judged::Passed)]] {
            assert_eq!(after(&passes).line("fit: ", 79), "fit: 1 row at most 10 % above the baseline");
        }
    }

    #[test]
    fn reasons_speak_of_this_node_and_of_the_baseline() {
        let unsettled = |side| Why::Unsettled { side, reason: "other programs disturbed it".into() };
        assert_eq!(as_of_here(&unsettled(Side::B)), "other programs disturbed it");
        let unusable = Why::Unusable { side: Side::A, reason: "it has no figure".into() };
        assert_eq!(as_of_here(&unusable), "in the baseline it has no figure");
        assert_eq!(as_of_here(&Why::MaybeNone), "no difference found");
    }
}
