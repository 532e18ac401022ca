//! The comparisons of a page, judged by the rules of `compare`: neighbouring runs, and each run's rows against one of them.

use super::Derived;
use crate::compare::{CompareDocument, Compared, compare_document};
use crate::pairing::{Place, THRESHOLD, common, comparable, judge, methods_differ};
use crate::rows::Line;
use serde::{Serialize, Serializer};
use switchcost_analysis::Noise;
use switchcost_model::Run;

/// Verdicts on a page: runs against their neighbours first, then rows against the cheapest, then against every other row.
const MOST_VERDICTS: usize = 4000;

/// Those of runs against their neighbours.
const MOST_BETWEEN_RUNS: usize = 1000;

/// One table.
#[derive(Serialize)]
pub struct Table {
    /// Index of the run of A.
    a: usize,
    /// Index of the run of B; the same: rows of one run.
    b: usize,
    /// Label of A, if it is one row.
    reference: Option<String>,
    #[serde(flatten, serialize_with = "as_document")]
    pub(crate) compared: Compared,
}

fn as_document<S: Serializer>(compared: &Compared, serializer: S) -> Result<S::Ok, S::Error> {
    CompareDocument::serialize(&compare_document(compared), serializer)
}

/// All tables that there is room for.
pub fn tables(runs: &[Run], derived: &[Derived<'_>], notes: &mut Vec<String>) -> Vec<Table> {
    let noises: Vec<Noise> = derived.iter().map(|one| one.noise.clone()).collect();
    let mut tables = Vec::new();
    let mut made = 0;
    for b in (1..runs.len()).rev() {
        if made >= MOST_BETWEEN_RUNS {
            notes.push(format!(
                "Only the last {} runs are compared with the one before; see `switchcost compare` for others.",
                runs.len() - b
            ));
            break;
        }
        let table = neighbours(b - 1, b, runs, derived, &noises);
        made += table.compared.rows.len();
        tables.push(table);
    }
    let mut references: Vec<(usize, usize, usize)> = Vec::new();
    for (run, one) in derived.iter().enumerate() {
        references.extend(by_cost(&one.lines).into_iter().enumerate().map(|(rank, line)| (rank, run, line)));
    }
    references.sort_unstable();
    for (_, run, line) in references {
        if made >= MOST_VERDICTS {
            notes.push(
                "Not every row has its verdicts against all others here; see `switchcost compare` for those."
                    .to_owned(),
            );
            break;
        }
        let table = against(run, &derived[run].lines[line], runs, derived, &noises);
        if let Some(table) = table {
            made += table.compared.rows.len();
            tables.push(table);
        }
    }
    tables
}

/// Indices of lines that can be a reference: real switches first, the cheapest first.
fn by_cost(lines: &[Line<'_>]) -> Vec<usize> {
    let cost =
        |index: &usize| lines[*index].row.summary.figures.as_ref().map_or(f64::INFINITY, |figures| figures.median);
    let mut indices: Vec<usize> = (0..lines.len()).filter(|&index| !lines[index].row.variant.is_twin()).collect();
    indices.sort_by(|a, b| {
        let second = |index: &usize| lines[*index].times_cheapest.is_none();
        second(a).cmp(&second(b)).then(cost(a).total_cmp(&cost(b)))
    });
    indices
}

fn first_halves<'l, 'r>(lines: &'l [Line<'r>]) -> Vec<&'l Line<'r>> {
    lines.iter().filter(|line| !line.row.variant.is_twin()).collect()
}

/// The rows that two runs have in common, those of `b` against those of `a`.
pub(crate) fn neighbours(a: usize, b: usize, runs: &[Run], derived: &[Derived<'_>], noises: &[Noise]) -> Table {
    let mut compared = Compared { threshold: THRESHOLD, ..Compared::default() };
    compared.refused.extend(methods_differ(&runs[a], &runs[b]));
    let shared = common(&first_halves(&derived[a].lines), &first_halves(&derived[b].lines));
    let mut pairs: Vec<(Place<'_, '_>, Place<'_, '_>)> = Vec::new();
    for (first, second) in shared.pairs {
        match comparable(first, second) {
            Ok(()) => pairs.push(((a, first), (b, second))),
            Err(reason) => compared.skipped.push((second.label.clone(), reason)),
        }
    }
    finish(&pairs, runs, noises, compared, (a, b), None)
}

/// None: nothing can be compared with it.
fn against(run: usize, line: &Line<'_>, runs: &[Run], derived: &[Derived<'_>], noises: &[Noise]) -> Option<Table> {
    let others = first_halves(&derived[run].lines);
    let pairs: Vec<(Place<'_, '_>, Place<'_, '_>)> = others
        .iter()
        .filter(|other| other.row.index != line.row.index && comparable(line, other).is_ok())
        .map(|&other| ((run, line), (run, other)))
        .collect();
    let compared = Compared { threshold: THRESHOLD, ..Compared::default() };
    (!pairs.is_empty()).then(|| finish(&pairs, runs, noises, compared, (run, run), Some(line.label.clone())))
}

fn finish(
    pairs: &[(Place<'_, '_>, Place<'_, '_>)],
    runs: &[Run],
    noises: &[Noise],
    mut compared: Compared,
    (a, b): (usize, usize),
    reference: Option<String>,
) -> Table {
    if let Err(reason) = judge(pairs, runs, noises, false, &mut compared) {
        compared.refused.push(reason);
    }
    Table { a, b, reference, compared }
}
