//! What `--gate` makes of a comparison: passed only where a larger increase is excluded.

use schemars::JsonSchema;
use serde::Serialize;
use switchcost_analysis::Comparison;
use switchcost_analysis::number::percent;

/// Most starts a side that are worth naming; beyond, another machine is the better cure.
const MOST_STARTS: f64 = 2000.0;

/// How a gate ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "GateOutcome")]
pub enum GateOutcome {
    /// Every row was compared, and the upper end of every interval lies within the gate.
    Passed,
    /// A row costs more by more than the gate.
    Failed,
    /// Neither.
    Inconclusive,
}

/// Label of a compared row, and the comparison.
pub type GatedRow<'a> = (&'a str, &'a Comparison);

/// A gate and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Gate {
    /// Largest increase that is let through, as a fraction.
    pub limit: f64,
    /// Passed, failed or inconclusive.
    pub outcome: GateOutcome,
    /// The increase that could have been missed: upper end of the widest interval, as a fraction; null where a row has none.
    pub missed: Option<f64>,
    /// Starts a side that would decide, if the costs are what they seem; null where it is decided, or more starts would not help.
    pub starts: Option<u64>,
    /// In words.
    pub reason: String,
}

impl Gate {
    /// Judges rows by their labels; `uncompared` rows of the reference have none. `refused`: a run bears no verdict.
    #[must_use]
    pub fn new(limit: f64, rows: &[GatedRow<'_>], uncompared: usize, refused: bool) -> Self {
        let failed: Vec<&GatedRow<'_>> = rows.iter().filter(|(_, row)| row.fails(limit)).collect();
        let open: Vec<&GatedRow<'_>> = rows.iter().filter(|(_, row)| !within(row, limit)).collect();
        let ends: Option<Vec<f64>> = rows.iter().map(|(_, row)| Some(row.interval?.1 - 1.0)).collect();
        let missed = ends.and_then(|ends| ends.into_iter().reduce(f64::max)).filter(|_| !refused);
        let gate = |outcome, starts, reason| Self { limit, outcome, missed, starts, reason };
        if refused {
            return gate(GateOutcome::Inconclusive, None, "a run is unstable and bears no verdict".into());
        }
        if !failed.is_empty() {
            let worst: Vec<String> =
                failed.iter().map(|(label, row)| format!("{label} {}", signed(row.ratio - 1.0))).collect();
            return gate(GateOutcome::Failed, None, worst.join(", "));
        }
        if open.is_empty()
            && uncompared == 0
            && let Some(most) = missed
        {
            let reason = format!("no row costs more than {} more", percent(most.max(0.0)));
            return gate(GateOutcome::Passed, None, reason);
        }
        // Where starts are too few for any interval, nothing is known yet of what more of them would not decide.
        let few = open.iter().any(|(_, row)| row.lacks_starts().is_some());
        let needs: Vec<Option<f64>> = open.iter().map(|(_, row)| needed(row, limit)).collect();
        let starts = needs.iter().flatten().copied().reduce(f64::max).map(f64::ceil);
        let starts = starts.filter(|_| few || needs.iter().all(Option::is_some));
        let starts = starts.filter(|most| *most <= MOST_STARTS).map(|most| most as u64);
        gate(GateOutcome::Inconclusive, starts, inconclusive(&open, uncompared, starts))
    }

    /// One line.
    pub(crate) fn text(&self) -> String {
        let word = match self.outcome {
            GateOutcome::Passed => "passed",
            GateOutcome::Failed => "failed",
            GateOutcome::Inconclusive => "inconclusive",
        };
        format!("gate {}: {word}: {}", percent(self.limit), self.reason)
    }
}

/// A larger increase is excluded.
fn within(row: &Comparison, limit: f64) -> bool {
    row.interval.is_some_and(|(_, high)| high <= 1.0 + limit)
}

/// Starts a side at which the interval would end within the gate, its width falling with the root of their number; without an interval for want of starts,
/// those that give one. None: the estimate itself lies beyond the gate, or something else is against an interval.
fn needed(comparison: &Comparison, limit: f64) -> Option<f64> {
    let (centre, room) = (comparison.ratio.ln(), limit.ln_1p());
    if comparison.interval.is_none() {
        return comparison.lacks_starts().map(|starts| starts as f64);
    }
    // Measured in one run there is nothing between runs.
    let width = ((comparison.interval?.1.ln() - centre).powi(2) - comparison.component.powi(2)).max(0.0).sqrt();
    let starts = comparison.counts.0.min(comparison.counts.1) as f64;
    (room > centre).then(|| starts * (width / (room - centre)).powi(2))
}

fn signed(fraction: f64) -> String {
    format!("{}{}", if fraction < 0.0 { "−" } else { "+" }, percent(fraction.abs()))
}

fn inconclusive(open: &[&GatedRow<'_>], uncompared: usize, starts: Option<u64>) -> String {
    let mut parts = Vec::new();
    if open.is_empty() && uncompared == 0 {
        return "no row is compared".into();
    }
    let end = |row: &GatedRow<'_>| row.1.interval.map_or(f64::INFINITY, |(_, high)| high);
    if let Some((label, widest)) = open.iter().max_by(|a, b| end(a).total_cmp(&end(b))) {
        let missed = match widest.interval {
            Some((_, high)) => format!("up to {} in {label}", signed(high - 1.0)),
            None => format!("any in {label}, which has no interval"),
        };
        parts.push(format!("{} could have missed a larger increase ({missed})", rows(open.len())));
    }
    if uncompared > 0 {
        parts.push(format!("{} of the reference not compared", rows(uncompared)));
    }
    match starts {
        Some(starts) => {
            let about = if open.iter().any(|row| row.1.interval.is_some()) { "about" } else { "at least" };
            parts.push(format!("it takes {about} {starts} starts a side: `compare --measure --rounds {starts}`"));
        }
        None if !open.is_empty() => {
            parts.push("more starts alone would not decide it; measure both in one run on a quieter machine".into())
        }
        None => {}
    }
    parts.join("; ")
}

fn rows(count: usize) -> String {
    if count == 1 { "1 row".into() } else { format!("{count} rows") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_analysis::Outcome;

    /// A ratio with its interval, by ten starts a side.
    fn compared(ratio: f64, low: f64, high: f64) -> Comparison {
        let outcome = if low > 1.0 { Outcome::Slower } else { Outcome::CannotTell };
        Comparison {
            ratio,
            interval: Some((low, high)),
            confidence: 0.95,
            paired: true,
            counts: (10, 10),
            component: 0.0,
            of: switchcost_analysis::Of::Medians,
            floor: 0.0,
            detectable: None,
            outcome,
            reason: String::new(),
        }
    }

    fn gate(rows: &[Comparison], uncompared: usize, refused: bool) -> Gate {
        let rows: Vec<GatedRow<'_>> = rows.iter().map(|row| ("thread/pipe", row)).collect();
        Gate::new(0.05, &rows, uncompared, refused)
    }

    #[test]
    fn it_passes_only_where_a_larger_increase_is_excluded() {
        let quiet = compared(1.0, 0.99, 1.04);
        let passed = gate(std::slice::from_ref(&quiet), 0, false);
        assert_eq!(
            (passed.outcome, passed.text().as_str()),
            (GateOutcome::Passed, "gate 5.0 %: passed: no row costs more than 4.0 % more")
        );
        assert_eq!(gate(&[compared(1.1, 1.06, 1.14)], 0, false).outcome, GateOutcome::Failed);
        // +10 % is not excluded: the old gate passed it.
        let noisy = gate(&[quiet.clone(), compared(1.0, 0.9, 1.1)], 0, false);
        assert_eq!((noisy.outcome, noisy.starts), (GateOutcome::Inconclusive, Some(39)));
        assert!((noisy.missed.unwrap() - 0.1).abs() < 1e-9, "{noisy:?}");
        assert!(
            noisy.reason.contains("up to +10 % in thread/pipe") && noisy.reason.contains("--rounds 39"),
            "{noisy:?}"
        );
    }

    #[test]
    fn what_is_not_compared_does_not_pass() {
        let quiet = compared(1.0, 0.99, 1.01);
        let lost = gate(std::slice::from_ref(&quiet), 3, false);
        assert_eq!(
            (lost.outcome, lost.reason.as_str()),
            (GateOutcome::Inconclusive, "3 rows of the reference not compared")
        );
        assert_eq!(gate(&[quiet], 0, true).outcome, GateOutcome::Inconclusive);
        assert_eq!(gate(&[], 0, false).outcome, GateOutcome::Inconclusive);
        let unknown = gate(&[Comparison { interval: None, ..compared(1.0, 1.0, 1.0) }], 0, false);
        assert_eq!((unknown.outcome, unknown.starts, unknown.missed), (GateOutcome::Inconclusive, None, None));
        assert!(unknown.reason.contains("more starts alone would not decide it"), "{unknown:?}");
        // Three starts give no interval at all, and six do.
        let few = Comparison { interval: None, counts: (3, 3), ..compared(1.0, 1.0, 1.0) };
        let few = gate(&[few], 0, false);
        assert_eq!((few.outcome, few.starts, few.missed), (GateOutcome::Inconclusive, Some(6), None));
        assert!(few.reason.contains("at least 6 starts a side: `compare --measure --rounds 6`"), "{few:?}");
        // Beside one that has modes, and although its estimate lies beyond the gate.
        let far = Comparison { interval: None, counts: (3, 14), ..compared(1.3, 1.0, 1.0) };
        let modes = Comparison { interval: None, ..compared(1.0, 1.0, 1.0) };
        assert_eq!(gate(&[far, modes], 0, false).starts, Some(6));
        // The estimate itself lies beyond the gate, but not for certain.
        assert_eq!(gate(&[compared(1.06, 0.99, 1.13)], 0, false).starts, None);
    }
}
