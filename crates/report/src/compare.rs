//! The JSON of comparisons; `compared` holds what it says, and `said` makes an answer of it.

mod compared;
mod junit;
mod load;
mod said;
mod words;

pub use compared::{AskedBy, Compared, ComparedRow, ComparedRun, Loaded, RowFigures, Unmatched};
pub use junit::compare_junit;
pub use said::published_figure;
pub(crate) use words::ratio_phrase;
pub use words::{incomparable, methods, reason};

use schemars::JsonSchema;
use serde::Serialize;
use switchcost_analysis::{Exceeded, GateOutcome, Grown, Of, Outcome, Why};
use switchcost_catalogue::Published;
use switchcost_model::Difference;

pub(crate) fn verdict_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Slower => "slower",
        Outcome::Faster => "faster",
        Outcome::Same(_) => "same",
        Outcome::CannotTell => "cannot_tell",
    }
}

/// B against A.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "switchcost comparison", deny_unknown_fields)]
struct CompareDocument<'a> {
    /// Version of this form. New fields do not change it.
    format: u32,
    /// Smallest difference that matters, as a fraction.
    threshold: f64,
    /// What stands for each start: `median`, or a percentile of its single switches such as `p99`.
    at: String,
    runs: &'a [ComparedRun],
    /// What bounds every word of it: runs of different machines or versions, rows with too few
    /// starts.
    cautions: &'a [String],
    /// Every recorded fact in which the runs differ, those of the hardware first.
    differences: &'a [Difference],
    comparisons: Vec<RowPart<'a>>,
    skipped: Vec<SkippedPart<'a>>,
    references: &'a [RowFigures],
    published: Vec<PublishedPart>,
    notes: &'a [String],
    refused: &'a [String],
    unmatched: &'a [Unmatched],
    gate: Option<GatePart>,
    loaded: Option<&'a Loaded>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Comparison")]
struct RowPart<'a> {
    a: &'a RowFigures,
    b: &'a RowFigures,
    /// The mechanisms that were asked for by name, if rows of others stand for them.
    asked: Option<(&'a str, &'a str)>,
    /// Then what they were asked beside the experiment, such as `10,000 contexts`; empty: nothing.
    beside: Option<&'a str>,
    /// Cost of B ÷ cost of A; null where modes of the two reach into one another.
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    confidence: f64,
    /// The figures are those of the batches beside which the machine was not slowed.
    undisturbed: bool,
    paired: bool,
    /// Rounds (paired twice the same), or invocations of A and B.
    counts: (usize, usize),
    /// What the interval grants to the scatter between runs: half-width, as a fraction; 0 within
    /// one run.
    run_to_run: f64,
    noise_floor: f64,
    smallest_detectable: Option<f64>,
    /// slower, faster, same, cannot_tell; null where it is refused. Of memory slower means more and
    /// faster less.
    verdict: Option<&'static str>,
    /// With verdict same: within this fraction.
    within: Option<f64>,
    phrase: String,
    /// Why there is no more than this to say, in a word; null for slower, faster and same.
    why: Option<&'static str>,
    /// The same in a clause; empty for slower, faster and same.
    reason: String,
    /// Where what they execute was counted: functions that execute more in B or less, the largest
    /// difference first.
    grown: &'a [Grown],
}

/// A gate and its outcome.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Gate")]
struct GatePart {
    /// Largest increase that is let through, as a fraction.
    limit: f64,
    /// Passed, failed or inconclusive.
    outcome: GateOutcome,
    /// The increase that could have been missed: upper end of the widest interval, as a fraction;
    /// null where a row has none.
    missed: Option<f64>,
    /// Starts a side that would decide, if the costs are what they seem; null where it is decided,
    /// or more starts would not help.
    starts: Option<u64>,
    /// In words.
    reason: String,
    /// Counts per unit that are too high.
    exceeded: Vec<Exceeded>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct SkippedPart<'a> {
    label: &'a str,
    reason: &'a str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct PublishedPart {
    name: String,
    what: String,
    low: f64,
    high: Option<f64>,
    /// The source says "below" the figure.
    upper_bound: bool,
    unit: String,
    machine: String,
    /// Of the publication, or of the newest software that it names.
    year: Option<u32>,
    source: String,
    /// False: known from a text that quotes the source.
    read: bool,
    /// What is known to be measured otherwise than by the mechanism, or to be wrong.
    caveat: Option<String>,
}

/// As one JSON object.
///
/// # Panics
/// Never: the types have only text keys and finite numbers.
#[must_use]
pub fn compare_json(compared: &Compared) -> String {
    crate::text::json(&compare_document(compared))
}

fn compare_document(compared: &Compared) -> CompareDocument<'_> {
    CompareDocument {
        format: 1,
        threshold: compared.threshold,
        at: compared.at.to_string(),
        runs: &compared.runs,
        cautions: &compared.cautions,
        differences: &compared.differences,
        comparisons: compared.rows.iter().map(|row| row_part(row, !compared.refused.is_empty())).collect(),
        skipped: compared.skipped.iter().map(|(label, reason)| SkippedPart { label, reason }).collect(),
        references: &compared.references,
        published: compared.published.iter().map(published_part).collect(),
        notes: &compared.notes,
        refused: &compared.refused,
        unmatched: &compared.unmatched,
        gate: compared.gate.as_ref().map(|gate| GatePart {
            limit: gate.limit,
            outcome: gate.outcome,
            missed: gate.missed,
            starts: gate.starts,
            reason: words::ground(gate),
            exceeded: gate.exceeded.clone(),
        }),
        loaded: compared.loaded.as_ref(),
    }
}

/// JSON Schema of [`compare_json`]'s object.
#[must_use]
pub fn compare_schema() -> String {
    crate::text::json(&schemars::schema_for!(CompareDocument<'_>))
}

fn row_part(row: &ComparedRow, refused: bool) -> RowPart<'_> {
    let comparison = &row.comparison;
    RowPart {
        a: &row.a,
        b: &row.b,
        asked: row.asked.as_ref().map(|asked| (asked.a.as_str(), asked.b.as_str())),
        beside: row.asked.as_ref().map(|asked| asked.beside.as_str()),
        ratio: row.ratio(),
        low: comparison.interval.map(|interval| interval.0),
        high: comparison.interval.map(|interval| interval.1),
        confidence: comparison.confidence,
        undisturbed: comparison.of == Of::Undisturbed,
        paired: comparison.paired,
        counts: comparison.counts,
        run_to_run: comparison.component.exp_m1(),
        noise_floor: comparison.floor,
        smallest_detectable: comparison.detectable,
        verdict: (!refused).then(|| verdict_word(comparison.outcome)),
        within: if let Outcome::Same(within) = comparison.outcome { Some(within) } else { None },
        phrase: if row.ratio().is_some() { said::change(row) } else { row.phrase() },
        why: comparison.why.as_ref().map(Why::code),
        grown: &row.grown,
        reason: row.reason(),
    }
}

pub(crate) fn published_part(value: &Published) -> PublishedPart {
    PublishedPart {
        name: value.name.clone(),
        what: value.what.clone(),
        low: value.low,
        high: value.high,
        upper_bound: value.upper_bound,
        unit: value.unit.clone(),
        machine: value.machine.clone(),
        year: value.year,
        source: value.source.clone(),
        read: value.read,
        caveat: value.caveat.clone(),
    }
}
