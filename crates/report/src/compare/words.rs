//! What `compare` says of reasons, cautions, remarks and gates: the one place where these become
//! sentences.

use switchcost_analysis::number::{counted, exactly, factor, percent};
use switchcost_analysis::{
    At, CORE, Caution, DEFAULT_FLOOR, Exceeded, Gate, GateOutcome, Ground, Incomparable, Quantity, Remark, Side, Why,
};
use switchcost_model::{Difference, Run, Value};

/// A ratio as people say it: `18 % faster`, `4.7 times slower`.
#[must_use]
pub fn ratio_phrase(ratio: f64, quantity: Quantity) -> String {
    let off = (ratio - 1.0).abs();
    match ratio {
        _ if off < 0.000_05 => "no difference".to_owned(),
        ratio if ratio >= 2.0 => format!("{} times {}", factor(ratio), quantity.greater),
        ratio if ratio <= 0.5 => format!("{} times {}", factor(1.0 / ratio), quantity.smaller),
        ratio => format!("{} {}", percent(off), if ratio > 1.0 { &quantity.greater } else { &quantity.smaller }),
    }
}

/// Ratios of modes, all on one side of 1: `2.02 to 2.81 times slower`.
pub fn modes_phrase(modes: (f64, f64), quantity: Quantity) -> String {
    let word = if modes.1 < 1.0 { &quantity.smaller } else { &quantity.greater };
    format!("{} times {word}", factors(modes).to_string().replace('–', "to"))
}

/// Of ratios below one their inverses, the least first.
pub(super) fn factors((least, most): (f64, f64)) -> Value {
    let (low, high) = if most < 1.0 { (1.0 / most, 1.0 / least) } else { (least, most) };
    Value::between(Value::Ratio(low), Value::Ratio(high))
}

/// A clause.
#[must_use]
pub fn reason(why: &Why) -> String {
    let one_place = |fraction: f64| format!("{:.1} %", fraction * 100.0);
    match why {
        Why::Experiments(a, b) => format!("one measures experiment {a}, the other {b}"),
        Why::Units(a, b) => format!("one is measured per {a}, the other per {b}"),
        Why::Unusable { side, reason } => format!("{side} has no verdict: {reason}"),
        Why::NoRoundInCommon => "no round holds both of them; measure them together again".into(),
        Why::NoFigure => "one of them has no figure".into(),
        Why::FewRounds { rounds, needed } => format!("{}; a verdict needs {needed}", counted(*rounds, "paired run")),
        Why::FewStarts { starts: (a, b), needed } => {
            format!("{a} and {b} process runs; a verdict needs {needed} of each")
        }
        Why::MaybeNone => "no difference found".into(),
        Why::WithinFloor(floor) => format!("the difference does not exceed the noise floor of {}", one_place(*floor)),
        Why::AboutThreshold(threshold) => {
            let threshold = one_place(*threshold);
            format!("they differ, but the interval holds differences on both sides of the threshold of {threshold}")
        }
        Why::Clock(log) => format!("{}, which may be all of it", slower_clock(*log)),
        Why::Unsettled { side, reason } => format!("{side}: {reason}; measure it again"),
        Why::RatiosWander => {
            "the ratio drifts during the run, so there is no interval; measure again at another time".into()
        }
        Why::OneCorrected(ratio) => format!(
            "only one figure leaves out slowed batches; as both were measured, B is {}; measure them again",
            ratio_phrase(*ratio, Quantity::TIME)
        ),
        Why::Modes(sides) => {
            let kinds: Vec<String> = sides.iter().map(|(side, modes)| format!("{side} has modes: {modes}")).collect();
            format!("{}; the ratio follows their shares, which are chance", kinds.join(", "))
        }
        Why::Batches { a_ns, b_ns } => {
            let of = |ns: f64| Quantity::TIME.amount(ns);
            format!(
                "their batches last {} and {}, whose edges weigh differently; measure both alike",
                of(*a_ns),
                of(*b_ns)
            )
        }
        Why::Slowed { side, times } => {
            format!("the machine was slowed throughout {side}'s run ({CORE} ×{times:.2}); measure it again")
        }
    }
}

/// One sentence on a pair that cannot be compared.
#[must_use]
pub fn incomparable(pair: &Incomparable) -> String {
    format!("`{}` and `{}` cannot be compared: {}", pair.labels.0, pair.labels.1, reason(&pair.why))
}

/// Of two runs whose methods differ.
#[must_use]
pub fn methods(a: &Run, b: &Run) -> String {
    format!(
        "run {} was made by version {} of the method and run {} by version {}, whose figures may differ for equal machines",
        a.id, a.method_version, b.id, b.method_version
    )
}

fn slower_clock(log: f64) -> String {
    let side = if log > 0.0 { Side::B } else { Side::A };
    format!("{side}'s clock was {:.1} % slower", (log.abs().exp() - 1.0) * 100.0)
}

/// A sentence. `differences`: facts in which the runs differ; `all`: rows that were compared.
pub(super) fn caution(caution: &Caution, differences: &[Difference], all: usize) -> String {
    match caution {
        Caution::Machines => format!(
            "The runs are of different machines, and each ratio is that of the machines as well: {}.",
            named(differences)
        ),
        Caution::Setups => format!(
            "The runs differ in more than their rows, and each ratio is that of this as well: {}.",
            named(differences)
        ),
        Caution::Watched(runs) => {
            let each: Vec<String> = runs.iter().map(|(run, who)| format!("run {run} by {who}")).collect();
            format!("Watched, so that a switch may take half as long again or more: {}.", each.join(", "))
        }
        Caution::Versions => "The runs were made by different versions of switchcost.".into(),
        Caution::Clock(log) => {
            format!("{} at its best: intervals of rows that may follow it are widened for it.", slower_clock(*log))
        }
        Caution::FewStarts { rows, needed, rounds } => {
            let of = if *rows == all { String::new() } else { format!(" in {rows} of {all} rows") };
            match rounds {
                true => format!("Too few rounds with both for a verdict{of}: it takes {needed}."),
                false => format!("Too few starts for a verdict{of}: it takes {needed} on each side."),
            }
        }
    }
}

/// Facts that differ, each with both values; of many the first, and the names of the others.
fn named(differences: &[Difference]) -> String {
    /// With values.
    const FEW: usize = 4;
    let (few, others) = differences.split_at(differences.len().min(FEW));
    let mut parts: Vec<String> = few.iter().map(|one| one.short().to_string()).collect();
    parts.extend(others.iter().map(|one| one.fact.clone()));
    parts.join("; ")
}

/// A sentence.
pub(super) fn remark(remark: &Remark) -> String {
    match remark {
        Remark::NoFloor { run } => format!(
            "run {run}: too few rounds to measure noise; assuming {:.0} %.",
            DEFAULT_FLOOR * 100.0
        ),
        Remark::Speeds(runs) => {
            let each: Vec<String> = runs.iter().map(|(run, times)| format!("×{times:.2} in run {run}")).collect();
            format!(
                "The machine was not equally fast: beside the median batch its rulers took so many times their best of the run: {}.",
                each.join(", ")
            )
        }
        Remark::Undisturbed => "Samples taken while the CPU was slowed are excluded.".into(),
        Remark::Together(count) => format!("95 % confidence, corrected for {count} comparisons."),
        Remark::AsSets => "Too few rounds to compare so many rows round by round: compared as two sets of starts, whose interval is wider where costs drift.".into(),
        Remark::TwoRuns => "Two runs: intervals include the usual scatter between runs; to be certain measure both in one run (--measure).".into(),
    }
}

/// One line. `at`: what stands for a start.
pub(super) fn gate(gate: &Gate, at: At) -> String {
    let word = match gate.outcome {
        GateOutcome::Passed => "PASS",
        GateOutcome::Failed => "FAIL",
        GateOutcome::Inconclusive => "INCONCLUSIVE",
    };
    let limit = (gate.limit * 1e5).round() / 1e3;
    let of = if at == At::Median { String::new() } else { format!(" of {at}") };
    format!("{word} (gate {limit} %{of}): {}", ground(gate))
}

/// What a gate rests on: a clause.
pub(super) fn ground(gate: &Gate) -> String {
    let counts = gate.exceeded.iter().map(too_many).collect::<Vec<_>>().join("; ");
    match (&gate.ground, counts.is_empty()) {
        (_, true) => of_figures(gate),
        (Ground::Worse(_), false) => format!("{}; {counts}", of_figures(gate)),
        (_, false) => counts,
    }
}

/// A count that is too high, by whom, and what is allowed.
fn too_many(exceeded: &Exceeded) -> String {
    let count = exceeded.count.replace("_", " ");
    let allowed = match (exceeded.most, exceeded.a) {
        (Some(most), _) => format!("at most {} allowed", exactly(most)),
        (None, Some(a)) => format!("{} in the reference", exactly(a)),
        (None, None) => "none in the reference".to_owned(),
    };
    let by = exceeded.by.iter().map(|one| format!("{} {:+.2}", one.function, one.b - one.a));
    let by = by.collect::<Vec<_>>().join(", ");
    let by = if by.is_empty() { by } else { format!(" ({by})") };
    format!("{}: {count} per unit {}{by}, {allowed}", exceeded.label, exactly(exceeded.b))
}

fn of_figures(gate: &Gate) -> String {
    let rows = |count: usize| if count == 1 { "1 row".to_owned() } else { format!("{count} rows") };
    let (open, widest, uncompared, estimated) = match &gate.ground {
        Ground::Unstable => return "a run is unstable and bears no verdict".into(),
        Ground::Hardware(differences) => {
            return format!(
                "other hardware ({}); measure both on one machine, or insist by --force",
                named(differences)
            );
        }
        Ground::Observers(differences) => {
            return format!("not watched alike ({}); measure both alike, or insist by --force", named(differences));
        }
        Ground::Worse(worse) => {
            return worse
                .iter()
                .map(|(label, by)| format!("{label} {}", Value::Change(*by)))
                .collect::<Vec<_>>()
                .join(", ");
        }
        Ground::AtMost(most) if *most <= 0.0 => return "no row costs more".into(),
        Ground::AtMost(most) => return format!("worst case {}", Value::Change(*most)),
        Ground::Nothing => return "no row is compared".into(),
        Ground::Open { rows, widest, uncompared, estimated } => (*rows, widest, *uncompared, *estimated),
    };
    let mut parts = Vec::new();
    if let Some((label, end)) = widest {
        let missed = match end {
            Some(end) => format!("up to {} in {label}", Value::Change(*end)),
            None => format!("any in {label}, which has no interval"),
        };
        parts.push(format!("{} could have missed a larger increase ({missed})", rows(open)));
    }
    if uncompared > 0 {
        parts.push(format!("{} of the reference not compared", rows(uncompared)));
    }
    match gate.starts {
        Some(starts) => {
            let about = if estimated { "about" } else { "at least" };
            parts.push(format!("it takes {about} {starts} starts a side: `compare --measure --rounds {starts}`"));
        }
        None if open > 0 => {
            parts.push("more starts alone would not decide it; measure both in one run on a quieter machine".into());
        }
        None => {}
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worded(ground: Ground, starts: Option<u64>) -> String {
        let outcome = GateOutcome::Inconclusive;
        gate(&Gate { limit: 0.05, outcome, missed: None, starts, ground, exceeded: Vec::new() }, At::Median)
    }

    #[test]
    fn a_gate_says_what_would_decide_it() {
        let open = |widest: Option<f64>, uncompared, estimated| Ground::Open {
            rows: 1,
            widest: Some(("thread/pipe".to_owned(), widest)),
            uncompared,
            estimated,
        };
        assert_eq!(
            worded(open(Some(0.1), 0, true), Some(39)),
            "INCONCLUSIVE (gate 5 %): 1 row could have missed a larger increase (up to +10 % in thread/pipe); it takes about 39 starts a side: `compare --measure --rounds 39`"
        );
        assert_eq!(
            worded(open(None, 3, false), None),
            "INCONCLUSIVE (gate 5 %): 1 row could have missed a larger increase (any in thread/pipe, which has no interval); 3 rows of the reference not compared; more starts alone would not decide it; measure both in one run on a quieter machine"
        );
        assert_eq!(worded(Ground::AtMost(0.04), None), "INCONCLUSIVE (gate 5 %): worst case +4.0 %");
        assert_eq!(
            worded(Ground::Worse(vec![("thread/pipe".to_owned(), 0.1)]), None),
            "INCONCLUSIVE (gate 5 %): thread/pipe +10 %"
        );
    }

    #[test]
    fn ratios_as_people_say_them() {
        let all: Vec<String> =
            [0.82, 1.1, 1.031, 0.995, 1.0, 27.31, 0.034].map(|ratio| ratio_phrase(ratio, Quantity::TIME)).into();
        let expected = [
            "18 % faster",
            "10 % slower",
            "3.1 % slower",
            "0.50 % faster",
            "no difference",
            "27.3 times slower",
            "29.4 times faster",
        ];
        assert_eq!(all, expected);
        assert_eq!(
            [0.82, 27.31].map(|ratio| ratio_phrase(ratio, Quantity::MEMORY)),
            ["18 % smaller", "27.3 times larger"]
        );
    }

    #[test]
    fn a_reason_names_its_side() {
        let text = reason(&Why::Unsettled { side: Side::B, reason: "other programs disturbed it".into() });
        assert_eq!(text, "B: other programs disturbed it; measure it again");
        assert_eq!(reason(&Why::Clock(-0.02)), "A's clock was 2.0 % slower, which may be all of it");
    }
}
