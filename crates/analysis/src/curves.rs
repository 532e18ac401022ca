//! Rows that belong together: curves along one number, and matrices over pairs of CPUs. Of any run, however it was asked for.

use crate::Row;
use std::collections::BTreeMap;
use switchcost_model::{MechanismId, Placement, Variant, cpu_list};
use switchcost_stats::{Interval, median, median_interval, sorted};

/// Fewer points are no curve.
const FEWEST_POINTS: usize = 3;

/// Level of every interval.
const CONFIDENCE: f64 = 0.95;

/// Name of the axis that is no parameter.
pub const CONTEXTS: &str = "contexts";

/// A row on a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where: number of contexts, or value of the parameter.
    pub x: u64,
    /// Position in the rows that the curves were made of.
    pub row: usize,
}

/// Rows that differ in one number only.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// `contexts`, or the name of a parameter.
    pub axis: String,
    /// What the rows share: the variant of the first point.
    pub variant: Variant,
    /// Rows with a figure, at least three, by ascending `x`.
    pub points: Vec<Point>,
    /// Rows without one, by ascending `x`.
    pub gaps: Vec<Point>,
}

/// Numbers of a variant that may be an axis.
fn numbers(variant: &Variant) -> Vec<(String, u64)> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let parameters = variant.parameters.iter().filter(|(_, value)| digits(value));
    let mut numbers: Vec<(String, u64)> =
        parameters.filter_map(|(name, value)| Some((name.clone(), value.parse().ok()?))).collect();
    numbers.push((CONTEXTS.to_owned(), variant.contexts));
    numbers
}

/// The variant without its number on an axis: equal for all rows of a curve.
fn without(variant: &Variant, axis: &str) -> Variant {
    let mut rest = variant.clone();
    if axis == CONTEXTS {
        rest.contexts = 0;
    } else {
        rest.parameters.insert(axis.to_owned(), String::new());
    }
    rest
}

/// Every curve of these rows, in their order. The second half of the A/A pair is on none. A point that could not be measured belongs to the
/// curve as a gap, whatever probe it would have had.
#[must_use]
pub fn curves(rows: &[Row<'_>]) -> Vec<Curve> {
    let mut groups: Vec<(String, Variant, Vec<Point>)> = Vec::new();
    let mut places: BTreeMap<(String, Variant), usize> = BTreeMap::new();
    for (position, row) in rows.iter().enumerate().filter(|(_, row)| !row.variant.is_twin()) {
        for (axis, x) in numbers(row.variant) {
            let key = (axis.clone(), without(row.variant, &axis));
            let place = *places.entry(key.clone()).or_insert_with(|| {
                groups.push((axis, key.1, Vec::new()));
                groups.len() - 1
            });
            groups[place].2.push(Point { x, row: position });
        }
    }
    let mut found = Vec::new();
    for (axis, rest, mut all) in groups {
        all.sort_by_key(|point| (point.x, point.row));
        let (points, mut gaps): (Vec<Point>, Vec<Point>) =
            all.into_iter().partition(|point| rows[point.row].summary.figures.is_some());
        if points.len() < FEWEST_POINTS {
            continue;
        }
        gaps.extend(nobody_s(rows, &axis, &rest));
        gaps.sort_by_key(|point| (point.x, point.row));
        found.push(Curve { axis, variant: rows[points[0].row].variant.clone(), points, gaps });
    }
    found
}

/// Rows of the same curve for which no probe was found: their probe is `-`.
fn nobody_s(rows: &[Row<'_>], axis: &str, rest: &Variant) -> Vec<Point> {
    let rest = Variant { probe: "-".to_owned(), ..rest.clone() };
    let mine = |(position, row): (usize, &Row<'_>)| {
        let x = numbers(row.variant).into_iter().find(|(name, _)| name == axis)?.1;
        (row.variant.probe == "-" && without(row.variant, axis) == rest).then_some(Point { x, row: position })
    };
    rows.iter().enumerate().filter_map(mine).collect()
}

/// What of the cost at a point is the parameter's own work, what the bare switch, and what is left.
///
/// total = control + direct + indirect. The control does the same work without a switch; direct is the same mechanism where the parameter is 0;
/// indirect is what the switch made the work dearer, or the work the switch: Li, Ding & Shen, "Quantifying the cost of context switch" (ExpCS 2007).
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// Where.
    pub x: u64,
    /// Position of the row of the control.
    pub control: usize,
    /// Position of the row of the mechanism at 0.
    pub direct: usize,
    /// Median over the rounds of total − control − direct, ns; None: no round holds all three.
    pub indirect: Option<f64>,
    /// Its 95 % interval; None with fewer than 6 such rounds.
    pub interval: Option<Interval>,
}

impl Split {
    /// The interval lies wholly above or wholly below 0.
    #[must_use]
    pub fn resolved(&self) -> bool {
        self.interval.is_some_and(|interval| interval.low > 0.0 || interval.high < 0.0)
    }
}

/// Splits each point of a curve but 0 by the control of its parameter. Empty without a row at 0.
#[must_use]
pub fn split(curve: &Curve, rows: &[Row<'_>], control: &MechanismId) -> Vec<Split> {
    let Some(direct) = curve.points.iter().find(|point| point.x == 0).map(|point| point.row) else { return Vec::new() };
    let control_at = |x: u64| {
        let is = |row: &Row<'_>| {
            row.variant.mechanism == *control
                && row.variant.timing == curve.variant.timing
                && row.variant.parameters.get(&curve.axis).is_some_and(|value| *value == x.to_string())
                && row.summary.figures.is_some()
        };
        let found = || rows.iter().enumerate().filter(|(_, row)| is(row));
        found()
            .find(|(_, row)| row.variant.probe == curve.variant.probe)
            .or_else(|| found().next())
            .map(|found| found.0)
    };
    let points = curve.points.iter().filter(|point| point.x > 0);
    points
        .filter_map(|point| {
            let control = control_at(point.x)?;
            let left = remainders(&rows[point.row], &rows[control], &rows[direct]);
            let interval = median_interval(&sorted(&left), CONFIDENCE);
            Some(Split { x: point.x, control, direct, indirect: median(&left), interval })
        })
        .collect()
}

/// total − control − direct of each round that holds all three.
fn remainders(total: &Row<'_>, control: &Row<'_>, direct: &Row<'_>) -> Vec<f64> {
    let ns = |value| value;
    let (total, control, direct) = (by_round(total, ns), by_round(control, ns), by_round(direct, ns));
    total.iter().filter_map(|(round, total)| Some(total - control.get(round)? - direct.get(round)?)).collect()
}

/// Cost in each round, on the scale that `of` gives; of several invocations in a round their median.
pub(crate) fn by_round(row: &Row<'_>, of: impl Fn(f64) -> f64) -> BTreeMap<u64, f64> {
    let mut rounds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (round, value) in &row.summary.invocation_medians {
        rounds.entry(*round).or_default().push(of(*value));
    }
    rounds.into_iter().filter_map(|(round, values)| Some((round, median(&values)?))).collect()
}

/// What two CPUs share, nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// They are one.
    SameCpu,
    /// One core.
    SmtSibling,
    /// The last-level cache.
    SameCache,
    /// The socket.
    SameSocket,
    /// Nothing but the machine.
    CrossSocket,
}

impl Relation {
    /// The word in tables and files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SameCpu => "same_cpu",
            Self::SmtSibling => "smt_sibling",
            Self::SameCache => "same_cache",
            Self::SameSocket => "same_socket",
            Self::CrossSocket => "cross_socket",
        }
    }
}

/// How two CPUs stand to each other, by the machine's facts; None where these do not tell.
#[must_use]
pub fn relation(facts: &BTreeMap<String, String>, a: u32, b: u32) -> Option<Relation> {
    if a == b {
        return Some(Relation::SameCpu);
    }
    let groups = |fact: &str| -> Option<Vec<Vec<u32>>> {
        facts.get(fact)?.split(' ').map(cpu_list::parse).collect::<Option<Vec<_>>>()
    };
    let together = |fact: &str| Some(groups(fact)?.iter().any(|group| group.contains(&a) && group.contains(&b)));
    if together("topology.cores") == Some(true) {
        return Some(Relation::SmtSibling);
    }
    if together("topology.last_caches") == Some(true) {
        return Some(Relation::SameCache);
    }
    Some(if together("topology.sockets")? { Relation::SameSocket } else { Relation::CrossSocket })
}

/// Rows that differ only in the pair of CPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// What the rows share: the variant of the first.
    pub variant: Variant,
    /// The CPUs, ascending.
    pub cpus: Vec<u32>,
    /// Pair, smaller number first → position of its row.
    pub cells: BTreeMap<(u32, u32), usize>,
}

/// Every matrix of these rows, in their order: at least two pairs of CPUs.
#[must_use]
pub fn matrices(rows: &[Row<'_>]) -> Vec<Matrix> {
    let mut found: Vec<(Variant, Matrix)> = Vec::new();
    for (position, row) in rows.iter().enumerate().filter(|(_, row)| !row.variant.is_twin()) {
        let Placement::Pair(a, b) = row.variant.placement else { continue };
        let shared = Variant { placement: Placement::Free, ..row.variant.clone() };
        if !found.iter().any(|(known, _)| *known == shared) {
            let (cpus, cells) = (Vec::new(), BTreeMap::new());
            found.push((shared.clone(), Matrix { variant: row.variant.clone(), cpus, cells }));
        }
        if let Some((_, matrix)) = found.iter_mut().find(|(known, _)| *known == shared) {
            matrix.cells.entry((a.min(b), a.max(b))).or_insert(position);
            matrix.cpus.extend([a, b]);
        }
    }
    let mut matrices: Vec<Matrix> = found.into_iter().map(|(_, matrix)| matrix).collect();
    matrices.retain(|matrix| matrix.cells.len() > 1);
    for matrix in &mut matrices {
        matrix.cpus.sort_unstable();
        matrix.cpus.dedup();
    }
    matrices
}
