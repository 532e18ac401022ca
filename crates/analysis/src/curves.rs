//! Rows that belong together: curves along one number, and matrices over pairs of CPUs. Of any run,
//! however it was asked for.

use crate::percentile::CONFIDENCE;
use crate::rounds::{by_round, common_rounds};
use crate::row::{Of, Row, Times};
use std::collections::{BTreeMap, BTreeSet};
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
    /// Its row at a point, if that has a figure.
    #[must_use]
    pub fn at<'a, 'r>(&self, rows: &'a [Row<'r>], x: u64) -> Option<&'a Row<'r>> {
        rows.get(self.points.iter().find(|point| point.x == x)?.row)
    }

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

/// Rows that are alike but for one thing, in the order of their first; the second half of an A/A
/// pair is with none. `shared`: what a row has in common with its like, and where it stands among
/// them.
fn alike<K: Ord + Clone, X, S: IntoIterator<Item = (K, X)>>(
    rows: &[Row<'_>],
    shared: impl Fn(&Variant) -> S,
) -> Vec<(K, Vec<(X, usize)>)> {
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    let mut groups: Vec<(K, Vec<(X, usize)>)> = Vec::new();
    for (position, row) in rows.iter().enumerate().filter(|(_, row)| !row.variant.is_twin()) {
        for (key, x) in shared(row.variant) {
            let place = *places.entry(key.clone()).or_insert(groups.len());
            if place == groups.len() {
                groups.push((key, Vec::new()));
            }
            groups[place].1.push((x, position));
        }
    }
    groups
}

/// Every line of these rows, in their order. A point that could not be measured belongs to the
/// curve as a gap, whatever probe it would have had.
#[must_use]
pub fn lines(rows: &[Row<'_>]) -> Vec<Line> {
    let groups = alike(rows, |variant| {
        numbers(variant).into_iter().map(|(axis, x)| ((without(variant, &axis), axis), x)).collect::<Vec<_>>()
    });
    let by_nobody: BTreeMap<_, _> = groups.iter().filter(|((rest, _), _)| rest.probe == NOBODY).cloned().collect();
    let mut found = Vec::new();
    for ((rest, axis), mut all) in groups {
        // Rows of the same curve for which no probe was found have no figure.
        if rest.probe != NOBODY {
            let lost = by_nobody.get(&(Variant { probe: NOBODY.to_owned(), ..rest }, axis.clone()));
            all.extend(lost.into_iter().flatten());
        }
        all.sort_unstable();
        let all = all.into_iter().map(|(x, row)| Point { x, row });
        let (points, gaps): (Vec<Point>, Vec<Point>) = all.partition(|point| rows[point.row].summary.figures.is_some());
        if points.len() < FEWEST_POINTS {
            continue;
        }
        found.push(Line { axis, variant: rows[points[0].row].variant.clone(), points, gaps });
    }
    found
}

/// What curves of one axis show together, as far as intervals carry it.
#[derive(Debug, Clone, PartialEq)]
pub struct Order<'c> {
    /// Those that may cost least at the first point and at the last: all others cost more. None:
    /// any may, or one has no interval, or was disturbed.
    pub least: [Option<Vec<&'c str>>; 2],
    /// Those that may grow most, where every one that does grows; None likewise.
    pub most: Option<Vec<Growth<'c>>>,
    /// Those that may grow least; None likewise.
    pub still: Option<Vec<Growth<'c>>>,
}

/// The cost at the last point of a curve ÷ that at the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth<'c> {
    /// Name of the curve.
    pub label: &'c str,
    /// Of the figures; None where either has modes.
    pub factor: Option<f64>,
    /// Least and greatest factor that the intervals at both ends allow.
    pub span: (f64, f64),
}

impl<'c> Growth<'c> {
    /// None: at either end there is no figure or no interval, or others disturbed its starts.
    #[must_use]
    pub fn of(rows: &[Row<'_>], curve: &'c Curve, [from, to]: [u64; 2]) -> Option<Self> {
        let (first, last) = (curve.at(rows, from)?, curve.at(rows, to)?);
        let ((low, high), (least, most)) = (undisturbed(first)?, undisturbed(last)?);
        let factor = first.one().zip(last.one()).map(|(first, last)| last / first);
        (low > 0.0).then_some(Self { label: &curve.label, factor, span: (least / high, most / low) })
    }

    /// The factor, if its interval is narrow enough for a sentence to give one number.
    #[must_use]
    pub fn carried(&self) -> Option<f64> {
        Times { ratio: self.factor?, interval: Some(self.span) }.carried()
    }
}

/// From where to where the cost of a row reaches, if it is the row's own.
fn undisturbed(row: &Row<'_>) -> Option<(f64, f64)> {
    row.reach().filter(|_| row.others().is_none())
}

/// Of these spans those that may be the least; None: any may, or one is not known.
fn lowest<T: Copy>(spans: Vec<Option<(f64, f64, T)>>) -> Option<Vec<T>> {
    let mut all = spans.into_iter().collect::<Option<Vec<_>>>()?;
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let bound = all.iter().map(|(_, high, _)| *high).min_by(f64::total_cmp)?;
    let least: Vec<T> = all.iter().filter(|(low, ..)| *low <= bound).map(|(.., which)| *which).collect();
    (least.len() < all.len()).then_some(least)
}

/// What these curves show together between two points of their axis.
#[must_use]
pub fn order<'c>(rows: &[Row<'_>], curves: &[&'c Curve], ends: [u64; 2]) -> Order<'c> {
    let least = |x| {
        let there = curves.iter().filter_map(|curve| Some((curve.at(rows, x)?, curve.label.as_str())));
        lowest(there.map(|(row, label)| undisturbed(row).map(|(low, high)| (low, high, label))).collect())
    };
    let grown: Vec<Option<Growth<'c>>> = curves
        .iter()
        .filter(|curve| ends.iter().all(|x| curve.at(rows, *x).is_some()))
        .map(|curve| Growth::of(rows, curve, ends))
        .collect();
    let spans = |sign: f64| -> Vec<Option<(f64, f64, Growth<'c>)>> {
        let ends = |(a, b): (f64, f64)| if sign < 0.0 { (-b, -a) } else { (a, b) };
        grown.iter().map(|grown| grown.map(|grown| (ends(grown.span).0, ends(grown.span).1, grown))).collect()
    };
    let grows = |most: &Vec<Growth<'c>>| most.iter().all(|grown| grown.span.0 > 1.0);
    Order { least: ends.map(least), most: lowest(spans(-1.0)).filter(grows), still: lowest(spans(1.0)) }
}

/// What of the cost at a point is the parameter's own work, what the bare switch, and what is left.
///
/// total = control + direct + indirect. The control does the same work without a switch; direct is
/// the same mechanism where the parameter is 0; indirect is what the switch made the work more
/// expensive, or the work the switch: Li, Ding & Shen, "Quantifying the cost of context switch"
/// (ExpCS 2007).
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// Where.
    pub x: u64,
    /// Position of the row of the control.
    pub control: usize,
    /// Position of the row of the mechanism at 0.
    pub direct: usize,
    /// Median over the rounds of total − control − direct, ns; None: no round holds all three, or
    /// one of them has modes.
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
            let parts = [point.row, control, direct].map(|row| &rows[row]);
            let single = parts.iter().all(|row| row.summary.modes.is_empty());
            let left = common_rounds(|all| remainders(parts[0], parts[1], parts[2], all), Vec::len);
            let left = if single { left } else { Vec::new() };
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

/// The longest fact on CPUs that is read: room for many thousand of them. Whoever writes a run file
/// may write more.
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

/// Pairs of CPUs with the row of each.
type CpuPairs = Vec<((u32, u32), usize)>;

/// Every matrix of these rows, in their order: at least two pairs of CPUs. None has a name yet.
#[must_use]
pub fn matrices(rows: &[Row<'_>]) -> Vec<Matrix> {
    let pair = |variant: &Variant| {
        let (a, b) = variant.placement.pair()?;
        Some((Variant { placement: Placement::usual(), ..variant.clone() }, (a.min(b), a.max(b))))
    };
    let matrix = |(_, pairs): (Variant, CpuPairs)| {
        let cpus: BTreeSet<u32> = pairs.iter().flat_map(|((a, b), _)| [*a, *b]).collect();
        let variant = rows[pairs[0].1].variant.clone();
        let mut cells = BTreeMap::new();
        for (pair, row) in pairs {
            cells.entry(pair).or_insert(row);
        }
        Matrix { variant, label: String::new(), cpus: cpus.into_iter().collect(), cells }
    };
    alike(rows, pair).into_iter().map(matrix).filter(|matrix| matrix.cells.len() > 1).collect()
}
