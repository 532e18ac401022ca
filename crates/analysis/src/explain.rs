//! A mechanism's cost, taken apart into differences of measured experiments.
//!
//! All rows of an explanation are measured in one run, each once per round. A layer is a sum of
//! such rows, each times a factor; it is formed within every round that has all rows, so that what
//! drifts from round to round cancels. A part is the mean over these rounds: means add up, medians
//! do not, so that layers and residue give the whole exactly. Within a start the median batch
//! counts. A batch is itself the mean of its thousand units; what interrupts some of them belongs
//! to no layer.

use crate::condition::Condition;
use crate::rounds::{by_round, common_rounds};
use crate::row::{Of, Row, Times};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::{Explanation, Layer, Residue, Term};
use switchcost_stats::{Interval, mean, mean_interval, median, median_interval, ratio_of_means, sorted};

/// Level of every interval.
const CONFIDENCE: f64 = 0.95;

/// Layers add up if their sum is proven to be within this share of the whole.
pub const ADDS_UP_WITHIN: f64 = 0.05;

/// A part of the cost, or all of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Mean over rounds, ns.
    pub value: f64,
    /// 95 % interval of it; None with fewer than 6 rounds.
    pub interval: Option<Interval>,
    /// Of the whole, from the same rounds; None where the whole is nothing.
    pub share: Option<Times>,
    /// Rounds that had all its rows.
    pub rounds: usize,
}

impl Part {
    /// The interval lies wholly above or wholly below 0.
    #[must_use]
    pub fn resolved(&self) -> bool {
        self.interval.is_some_and(|interval| interval.low > 0.0 || interval.high < 0.0)
    }
}

/// The sum of the layers ÷ the whole, from paired rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Mean of the sum ÷ mean of the whole.
    pub ratio: f64,
    /// 95 % interval of it, widened to hold that of the median of the rounds' ratios; None with
    /// fewer than 6 rounds.
    pub interval: Option<Interval>,
}

impl Prediction {
    /// Of (sum, whole) of each round. A few rounds in which others had the CPU move the mean but
    /// not the median, and two ways in which a row may go move the median but not the mean: a
    /// verdict needs both.
    fn of(rounds: &[(f64, f64)]) -> Option<Self> {
        let (ratio, interval) = ratio_of_means(rounds)?;
        let ratios = sorted(&rounds.iter().map(|(sum, whole)| sum / whole).collect::<Vec<_>>());
        let median = median_interval(&ratios, CONFIDENCE);
        let wider = |(a, b): (Interval, Interval)| Interval { low: a.low.min(b.low), high: a.high.max(b.high) };
        Some(Self { ratio, interval: interval.zip(median).map(wider) })
    }

    /// Equivalence within [`ADDS_UP_WITHIN`], by two one-sided tests (Schuirmann 1987) at 2.5 %
    /// each: a difference that is not seen does not prove equality.
    #[must_use]
    pub fn adds_up(&self) -> AddsUp {
        let (least, most) = (1.0 - ADDS_UP_WITHIN, 1.0 + ADDS_UP_WITHIN);
        match self.interval {
            Some(Interval { low, high }) if least <= low && high <= most => AddsUp::Yes,
            Some(Interval { low, high }) if high < least || most < low => AddsUp::No,
            _ => AddsUp::CannotTell,
        }
    }
}

/// Whether layers add up to the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddsUp {
    /// The whole interval lies within the bounds.
    Yes,
    /// The whole interval lies outside.
    No,
    /// It holds a bound, or there is none.
    CannotTell,
}

impl AddsUp {
    /// The word in texts and files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// A layer that was measured, or why it was not.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerCost {
    /// What the time goes into.
    pub name: String,
    /// Why that difference is this layer.
    pub why: String,
    /// Its terms, as text: `2 × control/null-syscall − …`.
    pub terms: String,
    /// What it costs.
    pub cost: Result<Part, String>,
}

/// What the layers are as shares of the whole.
#[derive(Debug, Clone, PartialEq)]
pub enum Shares {
    /// Name and share of each part whose interval lies above 0, the largest first; `left`: of what
    /// no layer explains, likewise.
    Of {
        /// The layers.
        layers: Vec<(String, Times)>,
        /// The rest.
        left: Option<Times>,
    },
    /// The row has modes: shares of their mixture are those of no switch.
    Modes,
    /// Fewer than 6 rounds.
    FewRounds,
    /// The layers exceed the whole: they overlap, or the model does not fit this CPU.
    Exceed,
}

impl Explained {
    /// Whether the layers add up; open where others moved the figures of its rows. None: nothing is
    /// predicted.
    #[must_use]
    pub fn adds_up(&self) -> Option<AddsUp> {
        let verdict = || self.prediction.map_or(AddsUp::CannotTell, |prediction| prediction.adds_up());
        (!self.floor_only).then(|| if self.moved().next().is_some() { AddsUp::CannotTell } else { verdict() })
    }

    /// Words for what moved the figures of its rows, each once.
    pub fn moved(&self) -> impl Iterator<Item = &'static str> {
        let all = self.limits.iter().flat_map(|row| &row.conditions).filter(|condition| condition.moves());
        all.map(|condition| condition.word()).collect::<BTreeSet<_>>().into_iter()
    }

    /// What a sentence may say of the layers.
    #[must_use]
    pub fn shares(&self) -> Shares {
        if self.modes {
            return Shares::Modes;
        }
        if self.total.interval.is_none() || self.total.value <= 0.0 {
            return Shares::FewRounds;
        }
        let measured = || self.layers.iter().filter_map(|layer| Some((&layer.name, layer.cost.as_ref().ok()?)));
        // One rule with the sentence on whether the layers add up, where there is one.
        let predicted = self.prediction.and_then(|prediction| prediction.interval);
        let negative = self.residue.resolved() && self.residue.value < 0.0;
        let above = predicted.map_or(negative, |interval| interval.low > 1.0);
        let whole = |part: &Part| part.share.and_then(|share| share.interval).is_some_and(|(low, _)| low > 1.0);
        let exceeds = |part: &Part| part.resolved() && (part.value < 0.0 || whole(part));
        if above || measured().any(|(_, part)| exceeds(part)) {
            return Shares::Exceed;
        }
        let share = |part: &Part| part.share.filter(|_| part.resolved() && part.value > 0.0);
        let mut layers: Vec<(String, Times)> =
            measured().filter_map(|(name, part)| Some((name.clone(), share(part)?))).collect();
        layers.sort_by(|a, b| b.1.ratio.total_cmp(&a.1.ratio));
        Shares::Of { layers, left: share(&self.residue) }
    }
}

/// A row that parts are made of, with all that limits it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Limited {
    /// Its label.
    pub row: String,
    /// Place of the layer that takes it; null for the whole.
    pub layer: Option<usize>,
    /// What limits it.
    pub conditions: Vec<Condition>,
}

/// A cost with its layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The whole.
    pub total: Part,
    /// Its row has modes.
    pub modes: bool,
    /// From the bottom.
    pub layers: Vec<LayerCost>,
    /// What the measured layers leave over.
    pub residue: Part,
    /// What the layers predict; None if one of them was not measured, or if they are the floor
    /// only.
    pub prediction: Option<Prediction>,
    /// The layers are the floor, which predicts nothing.
    pub floor_only: bool,
    /// What the data file says of that.
    pub residue_is: Option<Residue>,
    /// Every measured row of it.
    pub limits: Vec<Limited>,
}

const NO_ROUND: &str = "no round holds all of its rows";

/// Values of one row: round → ns; or why there are none.
type Values = Result<BTreeMap<u64, f64>, String>;

fn values(row: &Row<'_>, of: Of, all: bool) -> Values {
    crate::row::usable(row)
        .or_else(|reason| if row.summary.invocation_medians.is_empty() { Err(reason) } else { Ok(()) })?;
    Ok(by_round(row, of, |ns| ns, all))
}

/// Takes a cost apart. `rows` are those of the total and then of every term of every layer, in that
/// order; None where a row is missing.
///
/// # Errors
/// Why the whole itself has no figure.
pub fn explain(explanation: &Explanation, rows: &[Option<&Row<'_>>]) -> Result<Explained, String> {
    common_rounds(|all| of_rounds(explanation, rows, all), fewest_rounds)
}

/// Rounds behind the part that has fewest, apart from layers whose rows have no figure.
fn fewest_rounds(explained: &Result<Explained, String>) -> usize {
    let Ok(explained) = explained else { return 0 };
    let layers = explained.layers.iter().filter_map(|layer| match &layer.cost {
        Ok(part) => Some(part.rounds),
        Err(reason) => (reason == NO_ROUND).then_some(0),
    });
    layers.chain([explained.total.rounds, explained.residue.rounds]).min().unwrap_or(0)
}

fn of_rounds(explanation: &Explanation, rows: &[Option<&Row<'_>>], all: bool) -> Result<Explained, String> {
    // Parts add up only if all are of the same batches.
    let clear = rows.iter().flatten().all(|row| row.basis() == Of::Undisturbed);
    let of = if clear { Of::Undisturbed } else { Of::Medians };
    let found: Vec<Values> = rows
        .iter()
        .map(|row| row.map_or_else(|| Err("it was not measured".to_owned()), |row| values(row, of, all)))
        .collect();
    let missing = || Err("it was not measured".to_owned());
    let total = found.first().cloned().unwrap_or_else(missing)?;
    let counts = rows.first().copied().flatten().map(|row| &row.summary.counts);
    // Only rounds that every measured layer has remain.
    let mut left = total.clone();
    let mut costs = Vec::new();
    let mut next = 1;
    for layer in &explanation.layers {
        let terms: Vec<Values> = layer
            .terms
            .iter()
            .enumerate()
            .map(|(i, term)| times(term, found.get(next + i).cloned().unwrap_or_else(missing)?, counts))
            .collect();
        next += layer.terms.len();
        let cost = sum(layer, &terms, &left);
        if let Ok(rounds) = &cost {
            left = rounds.iter().filter_map(|(round, cost)| Some((*round, left.get(round)? - cost))).collect();
        }
        costs.push(cost);
    }
    let part = |of: &BTreeMap<u64, f64>| {
        let values: Vec<f64> = left.keys().filter_map(|round| of.get(round).copied()).collect();
        let value = mean(&values).ok_or_else(|| NO_ROUND.to_owned())?;
        let interval = mean_interval(&values);
        let pairs: Vec<(f64, f64)> = left.keys().filter_map(|round| Some((*of.get(round)?, total[round]))).collect();
        let share = ratio_of_means(&pairs).map(|(ratio, interval)| {
            let interval = interval.map(|interval| (interval.low, interval.high));
            Times { ratio, interval }
        });
        Ok::<Part, String>(Part { value, interval, share, rounds: values.len() })
    };
    let pairs: Vec<(f64, f64)> = left.iter().map(|(round, left)| (total[round] - left, total[round])).collect();
    let complete = !explanation.floor_only && costs.iter().all(Result::is_ok);
    let prediction = Prediction::of(&pairs).filter(|_| complete);
    let layer = |(layer, cost): (&Layer, Values)| LayerCost {
        name: layer.name.clone(),
        why: layer.why.clone(),
        terms: terms_text(layer),
        cost: cost.and_then(|rounds| part(&rounds)),
    };
    Ok(Explained {
        total: part(&total)?,
        modes: rows.first().copied().flatten().is_some_and(|row| !row.summary.modes.is_empty()),
        residue: part(&left)?,
        layers: explanation.layers.iter().zip(costs).map(layer).collect(),
        prediction,
        floor_only: explanation.floor_only,
        residue_is: explanation.residue.clone(),
        limits: limits(explanation, rows),
    })
}

fn limits(explanation: &Explanation, rows: &[Option<&Row<'_>>]) -> Vec<Limited> {
    let of_layers =
        explanation.layers.iter().enumerate().flat_map(|(i, layer)| layer.terms.iter().map(move |_| Some(i)));
    let row = |(layer, row): (Option<usize>, &Option<&Row<'_>>)| {
        row.map(|row| Limited { row: row.label.clone(), layer, conditions: row.conditions() })
    };
    std::iter::once(None).chain(of_layers).zip(rows).filter_map(row).collect()
}

type Counts = BTreeMap<String, Vec<(u64, f64)>>;

/// A term in every round: its row, times its factor, times the count of the whole's evidence that
/// it names.
fn times(term: &Term, row: BTreeMap<u64, f64>, counts: Option<&Counts>) -> Values {
    let Some(per) = &term.per else {
        return Ok(row.into_iter().map(|(round, value)| (round, term.times * value)).collect());
    };
    let counted = counts
        .and_then(|counts| counts.get(per))
        .ok_or_else(|| format!("the evidence of the whole does not count `{per}`"))?;
    let mut rounds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for &(round, count) in counted {
        rounds.entry(round).or_default().push(count);
    }
    let factor = |round: &u64| Some(term.times * median(rounds.get(round)?)?);
    Ok(row.into_iter().filter_map(|(round, value)| Some((round, factor(&round)? * value))).collect())
}

/// The layer in every one of these rounds that has all its rows.
fn sum(layer: &Layer, terms: &[Values], among: &BTreeMap<u64, f64>) -> Values {
    for (values, term) in terms.iter().zip(&layer.terms) {
        if let Err(reason) = values {
            return Err(format!("{}: {reason}", term.wanted));
        }
    }
    let of = |round: &u64| terms.iter().map(|values| values.as_ref().ok()?.get(round).copied()).sum::<Option<f64>>();
    let rounds: BTreeMap<u64, f64> = among.keys().filter_map(|round| Some((*round, of(round)?))).collect();
    if rounds.is_empty() { Err(NO_ROUND.to_owned()) } else { Ok(rounds) }
}

fn terms_text(layer: &Layer) -> String {
    let mut text = String::new();
    for term in &layer.terms {
        text.push_str(match (text.is_empty(), term.times < 0.0) {
            (true, false) => "",
            (true, true) => "− ",
            (false, false) => " + ",
            (false, true) => " − ",
        });
        if term.times.abs() != 1.0 {
            text.push_str(&format!("{} × ", term.times.abs()));
        }
        if let Some(per) = &term.per {
            text.push_str(&format!("{per} × "));
        }
        text.push_str(&term.wanted.to_string());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disturbed_round_refutes_nothing() {
        let mut rounds = vec![(100.0, 100.0); 19];
        rounds.push((30_000.0, 100.0));
        let disturbed = Prediction::of(&rounds).unwrap();
        assert!(disturbed.ratio > 15.0 && disturbed.adds_up() == AddsUp::CannotTell, "{disturbed:?}");
        assert_eq!(Prediction::of(&rounds[..19]).map(|prediction| prediction.adds_up()), Some(AddsUp::Yes));
        // Two ways of which the rarer is predicted wrongly.
        let ways: Vec<(f64, f64)> = (0..20).map(|i| if i % 3 == 0 { (100.0, 200.0) } else { (100.0, 100.0) }).collect();
        assert_eq!(Prediction::of(&ways).map(|prediction| prediction.adds_up()), Some(AddsUp::CannotTell));
    }

    fn part(value: f64, half: f64) -> Part {
        let share = |end: f64| (value + end) / 1000.0;
        let (interval, times) = (Interval { low: value - half, high: value + half }, (share(-half), share(half)));
        let share = Some(Times { ratio: value / 1000.0, interval: Some(times) });
        Part { value, interval: Some(interval), share, rounds: 20 }
    }

    /// Of 1000 ns two layers, a and b, and what they leave.
    fn taken_apart(a: Part, b: Part, left: Part) -> Explained {
        let layer = |(name, part): (&str, Part)| LayerCost {
            name: name.to_owned(),
            why: String::new(),
            terms: String::new(),
            cost: Ok(part),
        };
        Explained {
            total: part(1000.0, 10.0),
            modes: false,
            layers: [("a", a), ("b", b)].map(layer).into(),
            residue: left,
            prediction: None,
            floor_only: false,
            residue_is: None,
            limits: Vec::new(),
        }
    }

    #[test]
    fn shares_are_those_of_parts_that_are_there_and_fit() {
        let named = |shares: Shares| match shares {
            Shares::Of { layers, left } => Some((layers.into_iter().map(|(name, _)| name).collect(), left.is_some())),
            _ => None,
        };
        let of = |a, b, left| taken_apart(a, b, left);
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
        let all = of(part(200.0, 50.0), part(700.0, 50.0), part(100.0, 50.0));
        assert_eq!(named(all.shares()), Some((names(&["b", "a"]), true)), "the largest first");
        // What may be nothing, or less, has none.
        let some = of(part(30.0, 40.0), part(900.0, 50.0), part(70.0, 80.0));
        assert_eq!(named(some.shares()), Some((names(&["b"]), false)));
        // A share that is known only as a range is given as one.
        let Shares::Of { layers, .. } = all.shares() else { panic!() };
        assert_eq!(layers.iter().map(|(_, share)| share.carried()).collect::<Vec<_>>(), [Some(0.7), None]);
        // All of the whole, and no more than it may be.
        let one = of(part(1010.0, 30.0), part(0.0, 10.0), part(-10.0, 30.0));
        assert_eq!(named(one.shares()), Some((names(&["a"]), false)));
        // One layer beyond the whole or below nothing, or all of them together beyond it.
        for exceeding in [
            of(part(1100.0, 50.0), part(100.0, 50.0), part(-200.0, 300.0)),
            of(part(-200.0, 50.0), part(900.0, 50.0), part(300.0, 400.0)),
            of(part(600.0, 50.0), part(600.0, 50.0), part(-200.0, 50.0)),
        ] {
            assert_eq!(exceeding.shares(), Shares::Exceed, "{exceeding:?}");
        }
        // Shares of a mixture are those of no switch, and few rounds know none.
        assert_eq!(Explained { modes: true, ..all.clone() }.shares(), Shares::Modes);
        let few = Part { interval: None, ..all.total };
        assert_eq!(Explained { total: few, ..all }.shares(), Shares::FewRounds);
    }

    #[test]
    fn nothing_adds_up_of_rows_that_others_moved() {
        let prediction = Prediction { ratio: 1.0, interval: Some(Interval { low: 0.99, high: 1.01 }) };
        let with = |condition| Explained {
            prediction: Some(prediction),
            limits: vec![Limited { row: "a/b".to_owned(), layer: Some(0), conditions: vec![condition] }],
            ..taken_apart(part(200.0, 5.0), part(700.0, 5.0), part(100.0, 5.0))
        };
        assert_eq!(with(Condition::Unobserved).adds_up(), Some(AddsUp::Yes));
        let busy = with(Condition::Disturbed { starts: 9, of: 9 });
        assert_eq!((busy.adds_up(), busy.moved().collect()), (Some(AddsUp::CannotTell), vec!["disturbed"]));
    }

    #[test]
    fn adding_up_is_proven_refuted_or_open() {
        let judged = |low, high| Prediction { ratio: 1.0, interval: Some(Interval { low, high }) }.adds_up();
        assert_eq!([judged(0.96, 1.04), judged(0.95, 1.05)], [AddsUp::Yes; 2]);
        assert_eq!([judged(0.80, 0.94), judged(1.06, 1.30)], [AddsUp::No; 2]);
        // A wide interval that holds 1 is not a success, and a narrow one across a bound no
        // failure.
        assert_eq!([judged(0.70, 1.30), judged(0.94, 0.96), judged(1.04, 1.06)], [AddsUp::CannotTell; 3]);
        assert_eq!(Prediction { ratio: 1.0, interval: None }.adds_up(), AddsUp::CannotTell);
    }
}
