//! A mechanism's cost, taken apart into differences of measured experiments.
//!
//! All rows of an explanation are measured in one run, each once a round. A layer is a sum of such rows, each times a factor; it is formed within
//! every round, so that what drifts from round to round cancels, and then its median over the rounds is taken with its 95 % interval.

use crate::Row;
use crate::curves::{by_round, common_rounds};
use std::collections::BTreeMap;
use switchcost_model::{Explanation, Residue, Term};
use switchcost_stats::{Interval, median, median_interval, quantile, sorted};

/// Level of every interval.
const CONFIDENCE: f64 = 0.95;

/// A part of the cost, or all of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Median over rounds, ns.
    pub value: f64,
    /// 95 % interval of it; None with fewer than 6 rounds.
    pub interval: Option<Interval>,
    /// Rounds that had all its rows.
    pub rounds: usize,
}

impl Part {
    fn of(rounds: &[f64]) -> Option<Self> {
        let values = sorted(rounds);
        Some(Self {
            value: quantile(&values, 0.5)?,
            interval: median_interval(&values, CONFIDENCE),
            rounds: values.len(),
        })
    }

    /// The interval lies wholly above or wholly below 0.
    #[must_use]
    pub fn resolved(&self) -> bool {
        self.interval.is_some_and(|interval| interval.low > 0.0 || interval.high < 0.0)
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

/// A cost with its layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The whole.
    pub total: Part,
    /// From the bottom.
    pub layers: Vec<LayerCost>,
    /// What the measured layers leave over.
    pub residue: Part,
    /// What the data file says of that.
    pub residue_is: Option<Residue>,
}

const NO_ROUND: &str = "no round holds all of its rows";

/// Values of one row: round → ns; or why there are none.
type Values = Result<BTreeMap<u64, f64>, String>;

fn values(row: &Row<'_>, all: bool) -> Values {
    crate::usable(row)
        .or_else(|reason| if row.summary.invocation_medians.is_empty() { Err(reason) } else { Ok(()) })?;
    Ok(by_round(row, |ns| ns, all))
}

/// Takes a cost apart. `rows` are those of the total and then of every term of every layer, in that order; None where a row is missing.
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
    let found: Vec<Values> = rows
        .iter()
        .map(|row| row.map_or_else(|| Err("it was not measured".to_owned()), |row| values(row, all)))
        .collect();
    let missing = || Err("it was not measured".to_owned());
    let total = found.first().cloned().unwrap_or_else(missing)?;
    let counts = rows.first().copied().flatten().map(|row| &row.summary.counts);
    let mut left = total.clone();
    let mut layers = Vec::new();
    let mut next = 1;
    for layer in &explanation.layers {
        let terms: Vec<Values> = layer
            .terms
            .iter()
            .enumerate()
            .map(|(i, term)| times(term, found.get(next + i).cloned().unwrap_or_else(missing)?, counts))
            .collect();
        next += layer.terms.len();
        let cost = sum(layer, &terms, &total);
        if let Ok(rounds) = &cost {
            left = left.iter().filter_map(|(round, left)| Some((*round, left - rounds.get(round)?))).collect();
        }
        layers.push(LayerCost {
            name: layer.name.clone(),
            why: layer.why.clone(),
            terms: terms_text(layer),
            cost: cost.and_then(|rounds| part(&rounds)),
        });
    }
    Ok(Explained { total: part(&total)?, layers, residue: part(&left)?, residue_is: explanation.residue.clone() })
}

fn part(rounds: &BTreeMap<u64, f64>) -> Result<Part, String> {
    Part::of(&rounds.values().copied().collect::<Vec<_>>()).ok_or_else(|| NO_ROUND.to_owned())
}

type Counts = BTreeMap<String, Vec<(u64, f64)>>;

/// A term in every round: its row, times its factor, times the count of the whole's evidence that it names.
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

/// The layer in every round that has all its rows.
fn sum(
    layer: &switchcost_model::Layer,
    terms: &[Values],
    total: &BTreeMap<u64, f64>,
) -> Result<BTreeMap<u64, f64>, String> {
    for (values, term) in terms.iter().zip(&layer.terms) {
        if let Err(reason) = values {
            return Err(format!("{}: {reason}", term.wanted));
        }
    }
    let of = |round: &u64| terms.iter().map(|values| values.as_ref().ok()?.get(round).copied()).sum::<Option<f64>>();
    let rounds: BTreeMap<u64, f64> = total.keys().filter_map(|round| Some((*round, of(round)?))).collect();
    if rounds.is_empty() { Err(NO_ROUND.to_owned()) } else { Ok(rounds) }
}

fn terms_text(layer: &switchcost_model::Layer) -> String {
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
