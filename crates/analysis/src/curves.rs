//! Rows that belong together: curves along one number, and matrices over pairs of CPUs. Of any run, however it was asked for.

use crate::percentile::CONFIDENCE;
use crate::rounds::{by_round, common_rounds};
use crate::row::{Of, Row};
use std::collections::BTreeMap;
use std::ops::Deref;
use switchcost_model::{MechanismId, Placement, Variant, cpu_list};
use switchcost_stats::{Interval, median, median_interval, sorted};

/// Fewer points are not a curve.
const FEWEST_POINTS: usize = 3;

/// Probe of a row that no probe can carry out.
pub(crate) const NOBODY: &str = "-";

/// Name of the axis that is not a parameter.
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
pub struct Line {
    /// `contexts`, or the name of a parameter.
    pub axis: String,
    /// What the rows share: the variant of the first point.
    pub variant: Variant,
    /// Rows with a figure, at least three, by ascending `x`.
    pub points: Vec<Point>,
    /// Rows without one, by ascending `x`.
    pub gaps: Vec<Point>,
}

/// The same with its name and the parts of its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its rows.
    pub line: Line,
    /// Name of what they share.
    pub label: String,
    /// Control of the axis, where the mechanism's page names one.
    pub control: Option<MechanismId>,
    /// Parts of the cost at each point but 0; empty without control.
    pub splits: Vec<Split>,
    /// It is the control of another curve of the same axis, with which it is drawn.
    pub serves: bool,
}

impl Deref for Curve {
    type Target = Line;

    fn deref(&self) -> &Line {
        &self.line
    }
}

impl Curve {
    /// Keeps these rows; false: they are too few for a curve.
    pub(crate) fn keep(&mut self, keeps: impl Fn(usize) -> bool) -> bool {
        self.line.points.retain(|point| keeps(point.row));
        self.line.gaps.retain(|point| keeps(point.row));
        self.points.len() >= FEWEST_POINTS
    }
}

impl Line {
    /// A row is one of its points.
    #[must_use]
    pub fn has(&self, row: usize) -> bool {
        self.points.iter().chain(&self.gaps).any(|point| point.row == row)
    }
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

/// Every line of these rows, in their order. The second half of the A/A pair is on none. A point that could not be measured belongs to the
/// curve as a gap, whatever probe it would have had.
#[must_use]
pub fn lines(rows: &[Row<'_>]) -> Vec<Line> {
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
    for (axis, rest, all) in &groups {
        let (points, mut gaps): (Vec<Point>, Vec<Point>) =
            all.iter().partition(|point| rows[point.row].summary.figures.is_some());
        if points.len() < FEWEST_POINTS {
            continue;
        }
        // Rows of the same curve for which no probe was found.
        if rest.probe != NOBODY {
            let rest = Variant { probe: NOBODY.to_owned(), ..rest.clone() };
            gaps.extend(places.get(&(axis.clone(), rest)).into_iter().flat_map(|&place| &groups[place].2));
        }
        found.push((axis.clone(), points, gaps));
    }
    let ascending = |mut points: Vec<Point>| {
        points.sort_by_key(|point| (point.x, point.row));
        points
    };
    let curve = |(axis, points, gaps)| {
        let (points, gaps) = (ascending(points), ascending(gaps));
        Line { axis, variant: rows[points[0].row].variant.clone(), points, gaps }
    };
    found.into_iter().map(curve).collect()
}

/// Of these curves those that cost least at `x`: the cheapest, and all whose intervals meet its own.
#[must_use]
pub fn cheapest<'c>(rows: &[Row<'_>], curves: &[&'c Curve], x: u64) -> Vec<&'c str> {
    let span = |curve: &'c Curve| {
        let row = &rows[curve.points.iter().find(|point| point.x == x)?.row];
        let median = row.median().filter(|_| row.summary.modes.is_empty())?;
        Some((median, row.interval().unwrap_or((median, median)), curve.label.as_str()))
    };
    let mut all: Vec<_> = curves.iter().filter_map(|curve| span(curve)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let bound = all.first().map_or(f64::NAN, |least| least.1.1);
    all.into_iter().filter(|(_, interval, _)| interval.0 <= bound).map(|(_, _, label)| label).collect()
}

/// What of the cost at a point is the parameter's own work, what the bare switch, and what is left.
///
/// total = control + direct + indirect. The control does the same work without a switch; direct is the same mechanism where the parameter is 0;
/// indirect is what the switch made the work more expensive, or the work the switch: Li, Ding & Shen, "Quantifying the cost of context switch" (ExpCS 2007).
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
pub fn split(line: &Line, rows: &[Row<'_>], control: &MechanismId) -> Vec<Split> {
    let Some(direct) = line.points.iter().find(|point| point.x == 0).map(|point| point.row) else { return Vec::new() };
    let is_control = |row: &Row<'_>| {
        row.variant.mechanism == *control
            && row.variant.timing == line.variant.timing
            && row.summary.figures.is_some()
            && !row.variant.is_twin()
    };
    let controls: Vec<(usize, &Row<'_>)> = rows.iter().enumerate().filter(|(_, row)| is_control(row)).collect();
    let control_at = |x: u64| {
        let x = x.to_string();
        let found = || controls.iter().filter(|(_, row)| row.variant.parameters.get(&line.axis) == Some(&x));
        found().find(|(_, row)| row.variant.probe == line.variant.probe).or_else(|| found().next()).map(|found| found.0)
    };
    let points = line.points.iter().filter(|point| point.x > 0);
    points
        .filter_map(|point| {
            let control = control_at(point.x)?;
            let left = common_rounds(|all| remainders(&rows[point.row], &rows[control], &rows[direct], all), Vec::len);
            let interval = median_interval(&sorted(&left), CONFIDENCE);
            Some(Split { x: point.x, control, direct, indirect: median(&left), interval })
        })
        .collect()
}

/// total − control − direct of each round that holds all three.
fn remainders(total: &Row<'_>, control: &Row<'_>, direct: &Row<'_>, all: bool) -> Vec<f64> {
    let of = |row| by_round(row, Of::Medians, |ns| ns, all);
    let (total, control, direct) = (of(total), of(control), of(direct));
    total.iter().filter_map(|(round, total)| Some(total - control.get(round)? - direct.get(round)?)).collect()
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

/// The longest fact on CPUs that is read: room for many thousand of them. Whoever writes a run file may write more.
const LONGEST_FACT: usize = 128 * 1024;

/// First and last CPU.
type Range = (u32, u32);

/// Which CPUs share what, read once from the machine's facts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Topology {
    cores: Option<Vec<Vec<Range>>>,
    last_caches: Option<Vec<Vec<Range>>>,
    sockets: Option<Vec<Vec<Range>>>,
}

impl Topology {
    /// Of a machine with these stable facts.
    #[must_use]
    pub fn of(facts: &BTreeMap<String, String>) -> Self {
        let groups = |fact: &str| {
            let text = facts.get(fact).filter(|text| text.len() <= LONGEST_FACT)?;
            text.split(' ').map(cpu_list::ranges).collect()
        };
        Self {
            cores: groups("topology.cores"),
            last_caches: groups("topology.last_caches"),
            sockets: groups("topology.sockets"),
        }
    }

    /// How two CPUs stand to each other; None where the facts do not tell.
    #[must_use]
    pub fn relation(&self, a: u32, b: u32) -> Option<Relation> {
        if a == b {
            return Some(Relation::SameCpu);
        }
        let holds = |group: &[Range], cpu: u32| group.iter().any(|(first, last)| (*first..=*last).contains(&cpu));
        let together = |groups: &Option<Vec<Vec<Range>>>| {
            groups.as_ref().map(|groups| groups.iter().any(|group| holds(group, a) && holds(group, b)))
        };
        if together(&self.cores) == Some(true) {
            return Some(Relation::SmtSibling);
        }
        if together(&self.last_caches) == Some(true) {
            return Some(Relation::SameCache);
        }
        Some(if together(&self.sockets)? { Relation::SameSocket } else { Relation::CrossSocket })
    }
}

/// Rows that differ only in the pair of CPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// What the rows share: the variant of the first.
    pub variant: Variant,
    /// Name of that.
    pub label: String,
    /// The CPUs, ascending.
    pub cpus: Vec<u32>,
    /// Pair, smaller number first → position of its row.
    pub cells: BTreeMap<(u32, u32), usize>,
}

impl Matrix {
    /// Keeps these rows; false: they are too few for a matrix.
    pub(crate) fn keep(&mut self, keeps: impl Fn(usize) -> bool) -> bool {
        self.cells.retain(|_, row| keeps(*row));
        self.cpus.retain(|cpu| self.cells.keys().any(|pair| pair.0 == *cpu || pair.1 == *cpu));
        self.cells.len() > 1
    }
}

/// Every matrix of these rows, in their order: at least two pairs of CPUs.
#[must_use]
pub fn matrices(rows: &[Row<'_>], name: impl Fn(&Variant) -> String) -> Vec<Matrix> {
    let mut places: BTreeMap<Variant, usize> = BTreeMap::new();
    let mut matrices: Vec<Matrix> = Vec::new();
    for (position, row) in rows.iter().enumerate().filter(|(_, row)| !row.variant.is_twin()) {
        let Some((a, b)) = row.variant.placement.pair() else { continue };
        let place =
            *places.entry(Variant { placement: Placement::usual(), ..row.variant.clone() }).or_insert_with(|| {
                matrices.push(Matrix {
                    variant: row.variant.clone(),
                    label: name(row.variant),
                    cpus: Vec::new(),
                    cells: BTreeMap::new(),
                });
                matrices.len() - 1
            });
        matrices[place].cells.entry((a.min(b), a.max(b))).or_insert(position);
        matrices[place].cpus.extend([a, b]);
    }
    matrices.retain(|matrix| matrix.cells.len() > 1);
    for matrix in &mut matrices {
        matrix.cpus.sort_unstable();
        matrix.cpus.dedup();
    }
    matrices
}
