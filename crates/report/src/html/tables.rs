//! The comparisons of a page, judged by the rules of `compare`: each run and the nearest before it
//! that has rows of it, and each run's rows against one of them.

use crate::compare::{Compared, ComparedRow, Unmatched, incomparable, methods, reason, verdict_word};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use switchcost_analysis::{
    Analysis, Outcome, Place, Row, THRESHOLD, Why, common, comparable, methods_differ, verdicts,
};

/// Verdicts on a page: runs against one before first, then rows against the cheapest, then against
/// every other row.
const MOST_VERDICTS: usize = 4000;

/// Those of runs against one before.
const MOST_BETWEEN_RUNS: usize = 1000;

/// How many runs back one is compared with another.
const FARTHEST: usize = 20;

/// One table.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "ComparisonTable", title = "ComparisonTable")]
pub struct Table {
    /// Index of the run of A.
    a: usize,
    /// Index of the run of B; the same: rows of one run.
    b: usize,
    /// Label of A, if it is one row.
    reference: Option<String>,
    #[serde(flatten, serialize_with = "as_document")]
    #[schemars(with = "TableDocument<'static>")]
    pub(crate) compared: Compared,
}

fn as_document<S: Serializer>(compared: &Compared, serializer: S) -> Result<S::Ok, S::Error> {
    let refused = !compared.refused.is_empty();
    let notes: Vec<String> = compared.cautions.iter().chain(&compared.notes).cloned().collect();
    let document = TableDocument {
        threshold: compared.threshold,
        comparisons: compared.rows.iter().map(|row| row_part(row, refused)).collect(),
        skipped: &compared.skipped,
        notes: &notes,
        refused: &compared.refused,
        unmatched: &compared.unmatched,
    };
    document.serialize(serializer)
}

/// What a picture and a table of comparisons need: figures to five digits, and sides by their
/// labels, since their rows stand on the page.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct TableDocument<'a> {
    /// Smallest difference that matters, as a fraction.
    threshold: f64,
    comparisons: Vec<RowPart<'a>>,
    /// Label and reason.
    skipped: &'a [(String, String)],
    /// What bounds the words of it first.
    notes: &'a [String],
    refused: &'a [String],
    unmatched: &'a [Unmatched],
}

/// B against A.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Comparison")]
struct RowPart<'a> {
    /// Label of A in its run.
    a: &'a str,
    /// Label of B in its run.
    b: &'a str,
    /// Cost of B ÷ cost of A; null where modes of the two reach into one another.
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    confidence: f64,
    paired: bool,
    /// Rounds (paired twice the same), or invocations of A and B.
    counts: (usize, usize),
    noise_floor: f64,
    smallest_detectable: Option<f64>,
    /// slower, faster, same, cannot_tell; null where it is refused. Of memory slower means more and
    /// faster less.
    verdict: Option<&'static str>,
    /// With verdict same: within this fraction.
    within: Option<f64>,
    /// Why there is no more than this to say, in a word; null for slower, faster and same.
    why: Option<&'static str>,
    /// The same in a clause.
    reason: String,
}

fn row_part(row: &ComparedRow, refused: bool) -> RowPart<'_> {
    let comparison = &row.comparison;
    RowPart {
        a: &row.a.label,
        b: &row.b.label,
        // Of modes the page draws the interval, and knows by this that there is one.
        ratio: row.ratio().or(row.modes().map(|_| comparison.ratio)).map(short),
        low: comparison.interval.map(|interval| short(interval.0)),
        high: comparison.interval.map(|interval| short(interval.1)),
        confidence: comparison.confidence,
        paired: comparison.paired,
        counts: comparison.counts,
        noise_floor: short(comparison.floor),
        smallest_detectable: comparison.detectable.map(short),
        verdict: (!refused).then(|| verdict_word(comparison.outcome)),
        within: if let Outcome::Same(within) = comparison.outcome { Some(short(within)) } else { None },
        why: comparison.why.as_ref().map(Why::code),
        reason: row.reason(),
    }
}

/// A table before its pairs are judged, and those.
type Wanted<'l, 'r> = (Table, Vec<(Place<'l, 'r>, Place<'l, 'r>)>);

/// All tables that there is room for.
pub fn tables(runs: &[Analysis<'_>], notes: &mut Vec<String>) -> Vec<Table> {
    let mut wanted = Vec::new();
    let mut made = 0;
    for b in (1..runs.len()).rev() {
        if made >= MOST_BETWEEN_RUNS {
            notes.push(format!(
                "Only the last {} runs are compared with one before; see `switchcost compare` for others.",
                runs.len() - b
            ));
            break;
        }
        let table = rows_in_common(before(b, runs), b, runs);
        made += table.1.len();
        wanted.push(table);
    }
    let mut references: Vec<(usize, usize, usize)> = Vec::new();
    for (run, one) in runs.iter().enumerate() {
        references.extend(by_cost(one).into_iter().enumerate().map(|(rank, row)| (rank, run, row)));
    }
    references.sort_unstable();
    for (_, run, row) in references {
        if made >= MOST_VERDICTS {
            let note = "Not every row has its verdicts against all others here; see `switchcost compare` for those.";
            notes.push(note.to_owned());
            break;
        }
        let table = against(run, &runs[run].rows[row], runs);
        made += table.1.len();
        wanted.extend(Some(table).filter(|(_, pairs)| !pairs.is_empty()));
    }
    let judged = |(mut table, pairs): Wanted<'_, '_>| {
        match verdicts(&pairs, runs, table.compared.threshold) {
            Ok(found) => table.compared.add(found, &pairs, runs, false),
            Err(pair) => table.compared.refused.push(incomparable(&pair)),
        }
        table
    };
    wanted.into_par_iter().map(judged).collect()
}

/// The nearest earlier run that has a row of `b`; the one before if none near has.
fn before(b: usize, runs: &[Analysis<'_>]) -> usize {
    let originals = |run: usize| runs[run].originals().collect::<Vec<_>>();
    let own = originals(b);
    let shares = |a: &usize| !common(&originals(*a), &own, false).pairs.is_empty();
    (b.saturating_sub(FARTHEST)..b).rev().find(shares).unwrap_or(b - 1)
}

/// Indices of rows that can be a reference: real switches first, the cheapest first.
fn by_cost(analysis: &Analysis<'_>) -> Vec<usize> {
    let mut rows: Vec<&Row<'_>> = analysis.originals().collect();
    let cost = |row: &Row<'_>| row.median().unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| a.control.cmp(&b.control).then(cost(a).total_cmp(&cost(b))));
    rows.into_iter().map(|row| row.index).collect()
}

/// The rows that two runs have in common, those of `b` against those of `a`.
fn rows_in_common<'l, 'r>(a: usize, b: usize, runs: &'l [Analysis<'r>]) -> Wanted<'l, 'r> {
    let mut compared = Compared { threshold: THRESHOLD, ..Compared::default() };
    if methods_differ(runs[a].run, runs[b].run) {
        compared.refused.push(methods(runs[a].run, runs[b].run));
    }
    let originals = |run: usize| runs[run].originals().collect::<Vec<_>>();
    let shared = common(&originals(a), &originals(b), false);
    let mut pairs: Vec<(Place<'_, '_>, Place<'_, '_>)> = Vec::new();
    for (first, second) in shared.pairs {
        match comparable(first, second) {
            Ok(()) => pairs.push(((a, first), (b, second))),
            Err(why) => compared.skipped.push((second.label.clone(), reason(&why))),
        }
    }
    (Table { a, b, reference: None, compared }, pairs)
}

/// The rows of a run against one of them.
fn against<'l, 'r>(run: usize, row: &'l Row<'r>, runs: &'l [Analysis<'r>]) -> Wanted<'l, 'r> {
    let pairs = runs[run]
        .originals()
        .filter(|other| other.index != row.index && comparable(row, other).is_ok())
        .map(|other| ((run, row), (run, other)))
        .collect();
    let compared = Compared { threshold: THRESHOLD, ..Compared::default() };
    (Table { a: run, b: run, reference: Some(row.label.clone()), compared }, pairs)
}

/// Five significant digits: what a picture can show.
pub(super) fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let places = 4 - value.abs().log10().floor() as i32;
    let scale = 10_f64.powi(places.abs().min(300));
    if places >= 0 { (value * scale).round() / scale } else { (value / scale).round() * scale }
}
