//! What rows show together: curves, direct and indirect cost, matrices over CPU pairs.

use crate::answer::{Cell, Section};
use crate::text::Detail;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_analysis::number::grouped;
use switchcost_analysis::{Analysis, CONTEXTS, Condition, Curve, Growth, Matrix, Order, Quantity, Row, order};
use switchcost_model::Value;

/// Splits and matrices; for the short form also a table of each kind of curves, whose rows then
/// have no line of their own.
pub(crate) fn sections(analysis: &Analysis<'_>, detail: Detail) -> Vec<Section> {
    let split = analysis.curves.iter().filter(|curve| !curve.splits.is_empty());
    let mut sections: Vec<Section> = split.map(|curve| split_table(analysis, curve)).collect();
    sections.extend(analysis.matrices.iter().map(|matrix| matrix_table(analysis, matrix)));
    if detail != Detail::Brief {
        return sections;
    }
    let measure = |curve: &Curve| analysis.rows[curve.points[0].row].measure();
    let mut kinds: Vec<_> = Vec::new();
    for kind in analysis.curves.iter().map(|curve| (curve.axis.clone(), measure(curve))) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    for (axis, kind) in kinds {
        let curves = analysis.curves.iter().filter(|curve| curve.axis == axis && measure(curve) == kind);
        sections.push(points(analysis, &axis, &curves.collect::<Vec<_>>()));
    }
    sections
}

/// A line a curve, a column a point, how the cost grows, and what to conclude.
fn points(analysis: &Analysis<'_>, axis: &str, curves: &[&Curve]) -> Section {
    let first = &analysis.rows[curves[0].points[0].row];
    let places: BTreeSet<u64> =
        curves.iter().flat_map(|curve| curve.points.iter().chain(&curve.gaps)).map(|point| point.x).collect();
    let places: Vec<u64> = places.into_iter().collect();
    let value = |x: u64| if axis == CONTEXTS { grouped(i64::try_from(x).unwrap_or(i64::MAX)) } else { size(x) };
    let medians =
        |curve: &Curve| -> Vec<Option<f64>> { places.iter().map(|x| curve.at(&analysis.rows, *x)?.one()).collect() };
    let all: Vec<f64> = curves.iter().flat_map(|curve| medians(curve)).flatten().collect();
    let bounds = (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max));
    let titles: Vec<String> = places.iter().map(|x| value(*x)).collect();
    let titles = titles.iter().map(|title| (title.as_str(), 0));
    let last = [("± up to", 0), ("growth", 0), ("", 0), ("", 0)];
    let mut table = Section::new([("", 0)].into_iter().chain(titles).chain(last));
    table.title = format!("Cost per {} by {axis}, {}", first.unit, first.variant.placement.title());
    table.goes_on = true;
    for curve in curves {
        let rows = curve.points.iter().map(|point| &analysis.rows[point.row]);
        let half = |row: &Row<'_>| row.summary.figures.as_ref()?.half_width();
        let halves = rows.clone().filter(|row| row.summary.modes.is_empty()).map(half).collect::<Option<Vec<f64>>>();
        let widest = halves.map_or(Value::Unknown, |all| Value::Percent(all.into_iter().fold(0.0, f64::max)));
        let own = medians(curve);
        let ends = own.first().copied().flatten().zip(own.last().copied().flatten());
        let growth = ends.map(|(first, last)| last / first).filter(|growth| growth.is_finite());
        let mut limits: Vec<Condition> = rows.flat_map(|row| row.conditions()).collect();
        limits.sort();
        limits.dedup_by_key(|limit| limit.word());
        let mut cells = vec![Cell::Name(curve.label.clone())];
        cells.extend(places.iter().map(|x| figure(curve.at(&analysis.rows, *x))));
        cells.extend([Cell::Value(widest), Cell::Value(growth.map_or(Value::Unknown, Value::Grown))]);
        cells.extend([levels(&spread(&own, SPARKS), bounds).into(), Cell::Limits(limits)]);
        table.rows.push(cells);
    }
    let ends = [places[0], places[places.len() - 1]];
    let named =
        |x: u64| if axis == CONTEXTS { format!("{} contexts", value(x)) } else { format!("{axis}={}", value(x)) };
    let disturbed = |row: &Row<'_>| row.others().is_some();
    let at_ends = curves.iter().flat_map(|curve| ends.map(|x| curve.at(&analysis.rows, x)));
    let busy = at_ends.flatten().any(disturbed);
    table.below.push(match curves {
        [only] => alone(Growth::of(&analysis.rows, only, ends), &only.label, &ends.map(named), busy),
        several => concluded(&order(&analysis.rows, several, ends), &ends.map(named), busy),
    });
    table
}

/// Why nothing is concluded of figures that may be of what else ran.
const BUSY: &str = "other programs ran beside a row at its ends";

/// Points of a picture.
const SPARKS: usize = 8;
/// Names in a sentence.
const NAMES: usize = 3;

/// So many of these, the first and the last among them.
fn spread<T: Copy>(all: &[T], most: usize) -> Vec<T> {
    let count = all.len().min(most);
    (0..count).map(|place| all[place * (all.len() - 1) / (count - 1).max(1)]).collect()
}

/// A figure, or one for each mode.
fn figure(row: Option<&Row<'_>>) -> Cell {
    let figures = row.map(|row| {
        let one = row.one().map(|figure| (figure, 1.0));
        (row.quantity, row.summary.shares().into_iter().chain(one).collect::<Vec<_>>())
    });
    Cell::Value(match figures {
        Some((quantity, figures)) if !figures.is_empty() => Value::Either(figures, quantity),
        _ => Value::Unknown,
    })
}

/// A bar for each value, by its logarithm.
pub(crate) fn levels(values: &[Option<f64>], (low, high): (f64, f64)) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if low <= 0.0 || high <= low {
        return String::new();
    }
    let level = |value: f64| ((value / low).ln() / (high / low).ln() * 7.0).round().clamp(0.0, 7.0) as usize;
    values.iter().map(|value| value.map_or(' ', |value| LEVELS[level(value)])).collect()
}

/// A factor as far as it is known.
fn grown(grown: &Growth<'_>) -> String {
    let (low, high) = grown.span;
    match grown.carried() {
        Some(factor) => Value::Grown(factor).to_string(),
        None => format!("{} to {}", Value::Grown(low), Value::Grown(high)),
    }
}

/// How the only curve grows.
fn alone(found: Option<Growth<'_>>, label: &str, [from, to]: &[String; 2], busy: bool) -> String {
    match found {
        None => {
            let why = if busy { BUSY } else { "an interval is missing" };
            format!("{label}: how it grows from {from} to {to} is open, since {why}.")
        }
        Some(Growth { span: (low, high), .. }) if low <= 1.0 && high >= 1.0 => {
            format!("{label}: no growth from {from} to {to} that its intervals show.")
        }
        Some(found) => format!("{label}: {} from {from} to {to}.", grown(&found)),
    }
}

/// What costs least at both ends, and what grows most.
fn concluded(order: &Order<'_>, [from, to]: &[String; 2], busy: bool) -> String {
    let few = |names: &[&str]| match names {
        [names @ .., last] if (1..NAMES).contains(&names.len()) => format!("{} and {last}", names.join(", ")),
        names if names.len() > NAMES => format!("{} and {} more", names[..NAMES].join(", "), names.len() - NAMES),
        names => names.concat(),
    };
    let verb = |names: usize, one: &str| if names == 1 { format!("{one}s") } else { one.to_owned() };
    let cost = |names: &[&str]| format!("{} {} least", few(names), verb(names.len(), "cost"));
    let least = match &order.least {
        [Some(first), Some(last)] if first == last => Some(format!("{} from {from} to {to}", cost(first))),
        [Some(first), Some(last)] => Some(format!("{} at {from}, {} at {to}", cost(first), few(last))),
        [Some(first), None] => Some(format!("{} at {from}", cost(first))),
        [None, Some(last)] => Some(format!("{} at {to}", cost(last))),
        [None, None] => None,
    };
    let named = |all: &[Growth<'_>], verb: &str| {
        let by = if let [one] = all { format!(" ({})", grown(one)) } else { String::new() };
        format!("{} {verb}{by}", few(&all.iter().map(|one| one.label).collect::<Vec<_>>()))
    };
    let most = order.most.as_ref().map(|all| named(all, &format!("{} most", verb(all.len(), "grow"))));
    let still = order.still.as_deref().filter(|_| most.is_some()).map(|all| match all {
        all if all.iter().all(|one| one.span.1 < 1.0) => named(all, &verb(all.len(), "fall")),
        all => named(all, "least"),
    });
    let growth: Vec<String> = most.into_iter().chain(still).collect();
    let said: Vec<String> = least.into_iter().chain((!growth.is_empty()).then(|| growth.join(", "))).collect();
    if said.is_empty() {
        let why = if busy { BUSY } else { "the intervals overlap, or a figure has none" };
        return format!("No order: {why}.");
    }
    format!("{}.", said.join("; "))
}

/// Total, control, direct and indirect cost by the axis.
fn split_table(analysis: &Analysis<'_>, curve: &Curve) -> Section {
    let control = curve.control.as_ref().map_or(String::new(), ToString::to_string);
    let alone = format!("{control} alone");
    let titles = ["total", &alone, "direct", "indirect", "95 % interval", ""].map(|title| (title, 0));
    let mut table = Section::new([(curve.axis.as_str(), 0)].into_iter().chain(titles));
    table.goes_on = true;
    table.title = format!(
        "{}: cost per {} by {}; direct is the cost at 0, indirect = total − {alone} − direct, by rounds",
        curve.label, analysis.rows[curve.points[0].row].unit, curve.axis,
    );
    for split in &curve.splits {
        let Some(total) = curve.points.iter().find(|point| point.x == split.x) else { continue };
        let time = |ns| Value::Amount(ns, analysis.rows[total.row].quantity);
        let interval = split.interval.map(|interval| Value::between(time(interval.low), time(interval.high)));
        let cost = |row: usize| figure(analysis.rows.get(row));
        table.rows.push(vec![
            Cell::Name(size(split.x)),
            cost(total.row),
            cost(split.control),
            cost(split.direct),
            Cell::Value(split.indirect.map_or(Value::Unknown, time)),
            Cell::Value(interval.unwrap_or(Value::Unknown)),
            if split.resolved() { Cell::Empty } else { "not resolved".into() },
        ]);
    }
    table
}

/// A line and a column for each CPU.
fn matrix_table(analysis: &Analysis<'_>, matrix: &Matrix) -> Section {
    let titles: Vec<String> = matrix.cpus.iter().map(u32::to_string).collect();
    let mut table = Section::new([("CPU", 0)].into_iter().chain(titles.iter().map(|title| (title.as_str(), 0))));
    table.goes_on = true;
    table.title = format!("{}: a switch between each pair of CPUs (on the diagonal: on one CPU)", matrix.label);
    for b in &matrix.cpus {
        let cell = |a: &u32| figure(matrix.cells.get(&(*a.min(b), *a.max(b))).map(|row| &analysis.rows[*row]));
        table.rows.push([Cell::Name(b.to_string())].into_iter().chain(matrix.cpus.iter().map(cell)).collect());
    }
    table.below.push(by_relation(analysis, matrix));
    table
}

/// Median over the pairs of each relation.
fn by_relation(analysis: &Analysis<'_>, matrix: &Matrix) -> String {
    let mut groups: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    let mut unknown = 0;
    for (&(a, b), &row) in &matrix.cells {
        let Some(median) = analysis.rows[row].one() else { continue };
        match analysis.topology.relation(a, b) {
            Some(relation) => groups.entry(relation).or_default().push(median),
            None => unknown += 1,
        }
    }
    let mut parts: Vec<String> = groups
        .into_iter()
        .filter_map(|(relation, values)| {
            let median = switchcost_stats::median(&values)?;
            Some(format!("{} {} (pairs: {})", relation.as_str(), Quantity::TIME.amount(median), values.len()))
        })
        .collect();
    if unknown > 0 {
        parts.push(format!("topology unknown (pairs: {unknown})"));
    }
    let medians = if parts.is_empty() { "none has a figure".to_owned() } else { parts.join(" · ") };
    format!("Medians by what the CPUs share: {medians}")
}

/// Bytes with the binary suffix they divide by.
fn size(bytes: u64) -> String {
    match bytes {
        n if n > 0 && n.is_multiple_of(1 << 30) => format!("{}G", n >> 30),
        n if n > 0 && n.is_multiple_of(1 << 20) => format!("{}M", n >> 20),
        n if n > 0 && n.is_multiple_of(1 << 10) => format!("{}K", n >> 10),
        n => n.to_string(),
    }
}
