//! What one `compare` has to say.

use super::words;
use crate::text::{machine_words, moment};
use schemars::JsonSchema;
use serde::Serialize;
use switchcost_analysis::{
    Analysis, At, Burden, Comparison, Condition, Gate, Grown, Load, Outcome, Place, Quantity, Row, Verdicts, grown,
};
use switchcost_catalogue::Published;
use switchcost_model::{Difference, Experiment, Run};

/// A row of a run, as a side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Side")]
pub struct RowFigures {
    /// Id of its run.
    pub run: String,
    /// Its label within the run.
    pub label: String,
    /// What is measured of it.
    #[serde(serialize_with = "word")]
    #[schemars(with = "String")]
    pub experiment: Experiment,
    /// Median of the invocations' medians: ns per unit, or bytes for footprints; null for a row
    /// with modes, which is not one number.
    pub median: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Kinds of starts or batches: figure and share of each, cheapest first; empty where one number
    /// stands for the row.
    pub modes: Vec<(f64, f64)>,
    /// What one unit is.
    pub unit: String,
    /// Whether the figure is a time, in ns, or memory, in bytes.
    pub quantity: Quantity,
    /// What limits each conclusion that rests on it.
    pub conditions: Vec<Condition>,
}

impl RowFigures {
    /// A row of a run as a side, with its headline figure.
    #[must_use]
    pub fn new(run: &Run, row: &Row<'_>) -> Self {
        let figure = row.figure(row.basis());
        let modes: Vec<(f64, f64)> =
            figure.iter().flat_map(|figure| figure.2).map(|mode| (mode.value, mode.weight)).collect();
        let single = figure.filter(|_| modes.is_empty());
        Self {
            run: run.id.clone(),
            label: row.label.clone(),
            experiment: row.variant.experiment,
            median: single.map(|figure| figure.0),
            interval: single.and_then(|figure| figure.1).map(|interval| (interval.low, interval.high)),
            modes,
            unit: row.unit.clone(),
            quantity: row.quantity,
            conditions: row.conditions(),
        }
    }
}

fn word<S: serde::Serializer>(experiment: &Experiment, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(experiment)
}

/// A run that takes part.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ComparedRun {
    /// Its id.
    pub id: String,
    /// When it began, UTC.
    pub started: String,
    /// Processor, number of CPUs, hypervisor, kernel.
    pub machine: String,
}

/// Two mechanisms that were asked for by name, and what they were asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedBy {
    /// The reference.
    pub a: String,
    /// What is judged.
    pub b: String,
    /// What the question says beside the experiment, such as `10,000 contexts`; empty: nothing.
    pub beside: String,
}

/// B against A.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRow {
    /// The reference.
    pub a: RowFigures,
    /// What is judged.
    pub b: RowFigures,
    /// If mechanisms were asked for by name: what these rows stand for.
    pub asked: Option<AskedBy>,
    /// Ratio, interval, verdict.
    pub comparison: Comparison,
    /// Where what they execute was counted: functions that execute more in B, or less.
    pub grown: Vec<Grown>,
}

/// What a load would cost by each of the mechanisms that were asked for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Loaded {
    /// The load.
    pub load: Load,
    /// The cheapest that fits first.
    pub burdens: Vec<Burden>,
    /// Mechanisms that were asked for and have no figure.
    pub unknown: Vec<String>,
}

/// All that one `compare` has to say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Compared {
    /// Runs that take part.
    pub runs: Vec<ComparedRun>,
    /// Comparisons in the order asked.
    pub rows: Vec<ComparedRow>,
    /// Rows that could not be compared: label and reason.
    pub skipped: Vec<(String, String)>,
    /// Rows that only one of two runs has.
    pub unmatched: Vec<Unmatched>,
    /// The reference, where only published figures stand beside it.
    pub references: Vec<RowFigures>,
    /// Figures of others, shown and not judged.
    pub published: Vec<Published>,
    /// What bounds every word of it, and stands before it: runs of different machines or versions,
    /// rows with too few starts.
    pub cautions: Vec<String>,
    /// Every recorded fact in which its runs differ, those of the hardware first.
    pub differences: Vec<Difference>,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// The user stopped what was measured for it.
    pub stopped: bool,
    /// Why there is no verdict at all: runs that are unstable. Empty with `--force`.
    pub refused: Vec<String>,
    /// Threshold as a fraction.
    pub threshold: f64,
    /// What stands for each start.
    pub at: At,
    /// What a gate makes of it.
    pub gate: Option<Gate>,
    /// What the mechanisms would cost a program.
    pub loaded: Option<Loaded>,
}

impl ComparedRow {
    /// The ratio, unless a row has modes: it follows their shares.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let clear = self.comparison.outcome != Outcome::CannotTell && self.comparison.modes.is_none();
        let modes = !self.a.modes.is_empty() || !self.b.modes.is_empty();
        (clear || !modes).then_some(self.comparison.ratio)
    }

    /// From where to where the ratios of its modes reach with their interval, where each is slower,
    /// or each faster.
    pub(crate) fn modes(&self) -> Option<(f64, f64)> {
        let modes = self.comparison.modes.filter(|_| self.comparison.outcome != Outcome::CannotTell)?;
        Some(self.comparison.interval.unwrap_or(modes))
    }

    /// Why there is no more than this to say: a clause, or nothing.
    pub(crate) fn reason(&self) -> String {
        self.comparison.why.as_ref().map(words::reason).unwrap_or_default()
    }

    /// It in words.
    pub(crate) fn phrase(&self) -> String {
        match (self.ratio(), self.modes()) {
            (Some(ratio), _) => words::ratio_phrase(ratio, self.a.quantity),
            (None, Some(modes)) => words::modes_phrase(modes, self.a.quantity),
            (None, None) => "no single ratio".to_owned(),
        }
    }
}

impl Compared {
    /// The mechanisms that were asked for by name, the reference first.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for name in self.rows.iter().filter_map(|row| row.asked.as_ref()).flat_map(|asked| [&asked.a, &asked.b]) {
            if !names.contains(&name.as_str()) {
                names.push(name.as_str());
            }
        }
        names
    }

    /// Takes in what comes of these pairs. `force`: verdicts are given although a run is unstable,
    /// and a note says so.
    pub fn add(
        &mut self,
        found: Verdicts,
        pairs: &[(Place<'_, '_>, Place<'_, '_>)],
        runs: &[Analysis<'_>],
        force: bool,
    ) {
        let run = |index: usize| runs[index].run;
        let named = |run: &Run| ComparedRun {
            id: run.id.clone(),
            started: moment(run.started_unix_ns),
            machine: machine_words(&run.machine),
        };
        self.runs = found.runs.iter().map(|&index| named(run(index))).collect();
        self.differences = found.differences;
        let said = |caution| words::caution(caution, &self.differences, pairs.len());
        self.cautions = found.cautions.iter().map(said).collect();
        for (id, reason) in &found.unstable {
            let sentence = format!("run {id} is unstable: {reason}");
            if force { self.notes.push(format!("{sentence}.")) } else { self.refused.push(sentence) }
        }
        self.notes.extend(found.remarks.iter().map(words::remark));
        let side = |place: Place<'_, '_>| RowFigures::new(run(place.0), place.1);
        self.rows.extend(pairs.iter().zip(found.comparisons).map(|(&(a, b), comparison)| ComparedRow {
            a: side(a),
            b: side(b),
            asked: None,
            comparison,
            grown: grown(a.1, b.1),
        }));
    }

    /// What a gate is judged on: rows by the labels of B.
    #[must_use]
    pub fn gated(&self) -> Vec<(&str, &Comparison)> {
        self.rows.iter().map(|row| (row.b.label.as_str(), &row.comparison)).collect()
    }

    /// Rows of the reference that are not compared.
    #[must_use]
    pub fn uncompared(&self) -> usize {
        let lost = self.unmatched.iter().filter(|side| side.lost).map(|side| side.labels.len());
        self.skipped.len() + lost.sum::<usize>()
    }
}

/// Rows that have no partner in the other run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Unmatched {
    /// The run or file as typed, which alone has them.
    pub only: String,
    /// They are rows of A, which B lost; otherwise B has them anew.
    pub lost: bool,
    /// Their labels.
    pub labels: Vec<String>,
}
