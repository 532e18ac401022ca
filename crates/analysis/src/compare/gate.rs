//! What a gate makes of a comparison: passed only where a larger increase is excluded.

use super::exceeded::Exceeded;
use super::ratio::Comparison;
use schemars::JsonSchema;
use serde::Serialize;
use switchcost_model::{Difference, Finding, Severity};

/// Most starts a side that are worth naming; beyond, another machine is the better cure.
const MOST_STARTS: f64 = 2000.0;

/// How a gate ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Largest increase that is let through, as a fraction.
    pub limit: f64,
    /// Passed, failed or inconclusive.
    pub outcome: GateOutcome,
    /// The increase that could have been missed: upper end of the widest interval, as a fraction;
    /// None where a row has none.
    pub missed: Option<f64>,
    /// Starts a side that would decide, if the costs are what they seem; None where it is decided,
    /// or more starts would not help.
    pub starts: Option<u64>,
    /// Why.
    pub ground: Ground,
    /// Counts that are too high.
    pub exceeded: Vec<Exceeded>,
}

/// What an outcome rests on.
#[derive(Debug, Clone, PartialEq)]
pub enum Ground {
    /// A run bears no verdict.
    Unstable,
    /// The runs are of other hardware, which differs in this.
    Hardware(Vec<Difference>),
    /// Only one of the runs was watched, or each by others.
    Observers(Vec<Difference>),
    /// Rows that fail, each with its increase, as a fraction.
    Worse(Vec<(String, f64)>),
    /// No row costs more than this fraction more.
    AtMost(f64),
    /// No row is compared.
    Nothing,
    /// Rows that could have missed a larger increase, and rows of the reference that are not
    /// compared.
    Open {
        /// How many could have.
        rows: usize,
        /// That of the widest interval, with the increase at its upper end; None: it has no
        /// interval.
        widest: Option<(String, Option<f64>)>,
        /// How many are not compared.
        uncompared: usize,
        /// Some of the open rows have an interval, so that the starts that would decide are an
        /// estimate.
        estimated: bool,
    },
}

impl Ground {
    /// Why runs bear no verdict that differ so; `unstable`: equal things differ in one.
    #[must_use]
    pub fn withheld(differences: &[Difference], unstable: bool) -> Option<Self> {
        let those = |of: fn(&Difference) -> bool| -> Option<Vec<Difference>> {
            let those: Vec<Difference> = differences.iter().filter(|one| of(one)).cloned().collect();
            (!those.is_empty()).then_some(those)
        };
        let hardware = || those(|one| one.hardware).map(Self::Hardware);
        let observers = || those(Difference::is_of_observers).map(Self::Observers);
        unstable.then_some(Self::Unstable).or_else(hardware).or_else(observers)
    }
}

impl Gate {
    /// Judges rows by their labels; `uncompared` rows of the reference have none. `withheld`: why
    /// nothing is judged.
    #[must_use]
    pub fn new(limit: f64, rows: &[GatedRow<'_>], uncompared: usize, withheld: Option<Ground>) -> Self {
        let failed: Vec<&GatedRow<'_>> = rows.iter().filter(|(_, row)| row.fails(limit)).collect();
        let open: Vec<&GatedRow<'_>> = rows.iter().filter(|(_, row)| !excludes(row, limit)).collect();
        let ends: Option<Vec<f64>> = rows.iter().map(|(_, row)| Some(row.most_cost()? - 1.0)).collect();
        let missed = ends.and_then(|ends| ends.into_iter().reduce(f64::max)).filter(|_| withheld.is_none());
        let gate = |outcome, starts, ground| Self { limit, outcome, missed, starts, ground, exceeded: Vec::new() };
        if let Some(ground) = withheld {
            return gate(GateOutcome::Inconclusive, None, ground);
        }
        if !failed.is_empty() {
            let worse = failed.iter().map(|(label, row)| ((*label).to_owned(), row.cost() - 1.0)).collect();
            return gate(GateOutcome::Failed, None, Ground::Worse(worse));
        }
        if open.is_empty() && uncompared == 0 {
            return match missed {
                Some(most) => gate(GateOutcome::Passed, None, Ground::AtMost(most.max(0.0))),
                None => gate(GateOutcome::Inconclusive, None, Ground::Nothing),
            };
        }
        // Where starts are too few for any interval, nothing is known yet of what more of them
        // would not decide.
        let few = open.iter().any(|(_, row)| row.lacks_starts().is_some());
        let needs: Vec<Option<f64>> = open.iter().map(|(_, row)| needed(row, limit)).collect();
        let starts = needs.iter().flatten().copied().reduce(f64::max).map(f64::ceil);
        let starts = starts.filter(|_| few || needs.iter().all(Option::is_some));
        let starts = starts.filter(|most| *most <= MOST_STARTS).map(|most| most as u64);
        let end = |row: &GatedRow<'_>| row.1.most_cost().unwrap_or(f64::INFINITY);
        let widest = open.iter().max_by(|a, b| end(a).total_cmp(&end(b)));
        let ground = Ground::Open {
            rows: open.len(),
            widest: widest.map(|(label, row)| ((*label).to_owned(), row.most_cost().map(|most| most - 1.0))),
            uncompared,
            estimated: open.iter().any(|row| row.1.interval.is_some()),
        };
        gate(GateOutcome::Inconclusive, starts, ground)
    }
}

impl Gate {
    /// With counts that are too high, by which it fails; runs that bear no verdict bear none on
    /// counts.
    #[must_use]
    pub fn with(mut self, exceeded: Vec<Exceeded>) -> Self {
        let withheld = matches!(self.ground, Ground::Unstable | Ground::Hardware(_) | Ground::Observers(_));
        if !withheld && !exceeded.is_empty() {
            (self.outcome, self.starts) = (GateOutcome::Failed, None);
            self.exceeded = exceeded;
        }
        self
    }
}

/// A larger increase is excluded.
#[must_use]
pub fn excludes(row: &Comparison, limit: f64) -> bool {
    row.most_cost().is_some_and(|most| most <= 1.0 + limit)
}

/// Starts a side at which the interval would end within the gate, its width falling with the root
/// of their number; without an interval for want of starts, those that give one. None: the estimate
/// itself lies beyond the gate, or something else is against an interval.
fn needed(comparison: &Comparison, limit: f64) -> Option<f64> {
    let (centre, room) = (comparison.cost().ln(), limit.ln_1p());
    let Some(most) = comparison.most_cost() else { return comparison.lacks_starts().map(|starts| starts as f64) };
    // Measured in one run there is nothing between runs.
    let width = ((most.ln() - centre).powi(2) - comparison.component.powi(2)).max(0.0).sqrt();
    let starts = comparison.counts.0.min(comparison.counts.1) as f64;
    (room > centre).then(|| starts * (width / (room - centre)).powi(2))
}

/// The gate of `doctor`: findings of a severity and above fail it, but for those that are accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DoctorGate {
    /// Findings of this severity and above fail.
    #[serde(serialize_with = "word")]
    #[schemars(with = "String", extend("enum" = ["note", "warning"]))]
    pub severity: Severity,
    /// Ids of findings that are let through.
    pub accepted: Vec<String>,
    /// Passed or failed.
    pub outcome: GateOutcome,
    /// Ids of the findings that fail it.
    pub findings: Vec<String>,
}

impl DoctorGate {
    /// Judges findings.
    #[must_use]
    pub fn new(severity: Severity, accepted: &[String], findings: &[Finding]) -> Self {
        let fails = |finding: &&Finding| finding.severity >= severity && !accepted.contains(&finding.id);
        let findings: Vec<String> = findings.iter().filter(fails).map(|finding| finding.id.clone()).collect();
        let outcome = if findings.is_empty() { GateOutcome::Passed } else { GateOutcome::Failed };
        Self { severity, accepted: accepted.to_vec(), outcome, findings }
    }
}

fn word<S: serde::Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(severity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Outcome;
    use crate::row::Of;

    /// A ratio with its interval, by ten starts a side.
    fn compared(ratio: f64, low: f64, high: f64) -> Comparison {
        let outcome = if low > 1.0 { Outcome::Slower } else { Outcome::CannotTell };
        Comparison {
            modes: None,
            ratio,
            interval: Some((low, high)),
            more_is_better: false,
            confidence: 0.95,
            paired: true,
            counts: (10, 10),
            component: 0.0,
            of: Of::Medians,
            floor: 0.0,
            detectable: None,
            outcome,
            why: None,
        }
    }

    fn gate(rows: &[Comparison], uncompared: usize, refused: bool) -> Gate {
        let rows: Vec<GatedRow<'_>> = rows.iter().map(|row| ("thread/pipe", row)).collect();
        Gate::new(0.05, &rows, uncompared, Ground::withheld(&[], refused))
    }

    #[test]
    fn other_hardware_and_other_observers_decide_nothing() {
        let one = |fact: &str, hardware| Difference { fact: fact.into(), a: "1".into(), b: "2".into(), hardware };
        let slower = compared(1.5, 1.4, 1.6);
        for (differences, expected) in [
            (
                vec![one("cpu.model", true), one("kernel.release", false)],
                Ground::Hardware(vec![one("cpu.model", true)]),
            ),
            (vec![one("observer.bpf", false)], Ground::Observers(vec![one("observer.bpf", false)])),
        ] {
            let gate = Gate::new(0.05, &[("thread/pipe", &slower)], 0, Ground::withheld(&differences, false));
            assert_eq!((gate.outcome, gate.ground, gate.missed), (GateOutcome::Inconclusive, expected, None));
        }
        assert_eq!(Ground::withheld(&[one("kernel.release", false)], false), None);
    }

    #[test]
    fn it_passes_only_where_a_larger_increase_is_excluded() {
        let quiet = compared(1.0, 0.99, 1.04);
        let passed = gate(std::slice::from_ref(&quiet), 0, false);
        let Ground::AtMost(most) = passed.ground else { panic!("{passed:?}") };
        assert!(passed.outcome == GateOutcome::Passed && (most - 0.04).abs() < 1e-9, "{most}");
        assert_eq!(gate(&[compared(1.1, 1.06, 1.14)], 0, false).outcome, GateOutcome::Failed);
        // +10 % is not excluded: the old gate passed it.
        let noisy = gate(&[quiet.clone(), compared(1.0, 0.9, 1.1)], 0, false);
        assert_eq!((noisy.outcome, noisy.starts), (GateOutcome::Inconclusive, Some(39)));
        assert!((noisy.missed.unwrap() - 0.1).abs() < 1e-9, "{noisy:?}");
        let Ground::Open { rows: 1, widest: Some((_, Some(most))), uncompared: 0, estimated: true } = noisy.ground
        else {
            panic!("{noisy:?}")
        };
        assert!((most - 0.1).abs() < 1e-9, "{most}");
    }

    #[test]
    fn what_is_not_compared_does_not_pass() {
        let quiet = compared(1.0, 0.99, 1.01);
        let lost = gate(std::slice::from_ref(&quiet), 3, false);
        let ground = Ground::Open { rows: 0, widest: None, uncompared: 3, estimated: false };
        assert_eq!((lost.outcome, lost.ground), (GateOutcome::Inconclusive, ground));
        assert_eq!(gate(&[quiet], 0, true).ground, Ground::Unstable);
        let nothing = gate(&[], 0, false);
        assert_eq!((nothing.outcome, nothing.ground), (GateOutcome::Inconclusive, Ground::Nothing));
        let unknown = gate(&[Comparison { interval: None, ..compared(1.0, 1.0, 1.0) }], 0, false);
        assert_eq!((unknown.outcome, unknown.starts, unknown.missed), (GateOutcome::Inconclusive, None, None));
        // Three starts give no interval at all, and six do.
        let few = Comparison { interval: None, counts: (3, 3), ..compared(1.0, 1.0, 1.0) };
        let few = gate(&[few], 0, false);
        assert_eq!((few.outcome, few.starts, few.missed), (GateOutcome::Inconclusive, Some(6), None));
        let widest = Some(("thread/pipe".to_owned(), None));
        assert_eq!(few.ground, Ground::Open { rows: 1, widest, uncompared: 0, estimated: false });
        // Beside one that has modes, and although its estimate lies beyond the gate.
        let far = Comparison { interval: None, counts: (3, 14), ..compared(1.3, 1.0, 1.0) };
        let modes = Comparison { interval: None, ..compared(1.0, 1.0, 1.0) };
        assert_eq!(gate(&[far, modes], 0, false).starts, Some(6));
        // The estimate itself lies beyond the gate, but not for certain.
        assert_eq!(gate(&[compared(1.06, 0.99, 1.13)], 0, false).starts, None);
    }

    /// A rate that falls costs more, and one that rises less.
    #[test]
    fn where_more_is_better_less_fails() {
        let rate = |ratio, low, high| Comparison {
            outcome: if high < 1.0 { Outcome::Slower } else { Outcome::Faster },
            more_is_better: true,
            ..compared(ratio, low, high)
        };
        let fallen = gate(&[rate(0.5, 0.4, 0.6)], 0, false);
        assert_eq!(
            (fallen.outcome, fallen.ground),
            (GateOutcome::Failed, Ground::Worse(vec![("thread/pipe".into(), 1.0)]))
        );
        assert_eq!(gate(&[rate(2.0, 1.8, 2.2)], 0, false).outcome, GateOutcome::Passed);
    }

    #[test]
    fn that_of_doctor_fails_by_severity_and_lets_through_what_is_accepted() {
        let finding = |id: &str, severity| Finding { id: id.into(), severity, case: String::new(), facts: [].into() };
        let findings = [
            finding("smt", Severity::Fine),
            finding("hypervisor", Severity::Note),
            finding("steal", Severity::Warning),
        ];
        let failed = |severity, accepted: &[&str]| {
            let accepted: Vec<String> = accepted.iter().map(|id| (*id).to_owned()).collect();
            let gate = DoctorGate::new(severity, &accepted, &findings);
            assert_eq!(gate.outcome == GateOutcome::Passed, gate.findings.is_empty());
            gate.findings
        };
        assert_eq!(failed(Severity::Warning, &[]), ["steal"]);
        assert_eq!(failed(Severity::Note, &[]), ["hypervisor", "steal"]);
        assert_eq!(failed(Severity::Note, &["steal"]), ["hypervisor"]);
        assert!(failed(Severity::Warning, &["steal"]).is_empty());
    }
}
