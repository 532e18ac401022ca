//! What rows show together: curves, direct and indirect cost, matrices over CPU pairs.

use crate::text::{Style, cell, drawn, right, wrapped};
use comfy_table::Table;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_analysis::number::{factor, grouped, nanoseconds, percent};
use switchcost_analysis::{Analysis, CONTEXTS, Curve, Matrix, Row, cheapest};

/// For the short form: splits and matrices, then one line a curve.
pub(crate) fn brief(analysis: &Analysis<'_>, style: Style) -> String {
    (text(analysis, style) + &points(analysis, style)).trim_start_matches('\n').to_owned()
}

/// A table for each axis and quantity: one line a curve, one column a point, how the cost grows, and what to conclude.
fn points(analysis: &Analysis<'_>, style: Style) -> String {
    let mut out = String::new();
    let measure = |curve: &Curve| analysis.rows[curve.points[0].row].measure();
    let mut kinds: Vec<_> = Vec::new();
    for kind in analysis.curves.iter().map(|curve| (curve.axis.clone(), measure(curve))) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    for (axis, kind) in kinds {
        let curves: Vec<&Curve> =
            analysis.curves.iter().filter(|curve| curve.axis == axis && measure(curve) == kind).collect();
        let first = &analysis.rows[curves[0].points[0].row];
        let places: BTreeSet<u64> =
            curves.iter().flat_map(|curve| curve.points.iter().chain(&curve.gaps)).map(|p| p.x).collect();
        let places: Vec<u64> = places.into_iter().collect();
        let value = |x: u64| if axis == CONTEXTS { grouped(i64::try_from(x).unwrap_or(i64::MAX)) } else { size(x) };
        let name = curves.iter().map(|curve| curve.label.chars().count()).max().unwrap_or(0);
        let room = usize::from(style.width.unwrap_or(100)).saturating_sub(name + GROWTH);
        let widths = room / places.len() >= WITH_INTERVAL;
        let most = (room / if widths { WITH_INTERVAL } else { ALONE }).max(2);
        let shown = spread(&places, most);
        let mut table = style.table();
        let wide = if widths { "" } else { "± up to" };
        let heads = shown.iter().map(|x| right(value(*x))).chain([right(wide), right("growth"), cell("")]);
        table.set_header(std::iter::once(cell("")).chain(heads));
        let row_at = |curve: &Curve, x: u64| {
            let point = curve.points.iter().find(|point| point.x == x)?;
            Some(&analysis.rows[point.row])
        };
        let medians = |curve: &Curve| -> Vec<Option<f64>> {
            places.iter().map(|x| row_at(curve, *x).filter(|row| row.summary.modes.is_empty())?.median()).collect()
        };
        let all: Vec<f64> = curves.iter().flat_map(|curve| medians(curve)).flatten().collect();
        let bounds = (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max));
        let mut grown: Vec<(f64, &str)> = Vec::new();
        for curve in &curves {
            let own = medians(curve);
            let ends = own.first().copied().flatten().zip(own.last().copied().flatten());
            let growth = ends.map(|(first, last)| last / first).filter(|growth| growth.is_finite());
            grown.extend(growth.map(|growth| (growth, curve.label.as_str())));
            let cells = shown.iter().map(|x| right(figure(row_at(curve, *x), widths)));
            let reached =
                curve.points.iter().filter_map(|point| analysis.rows[point.row].summary.figures.as_ref()?.half_width());
            let reached = if widths { String::new() } else { percent(reached.fold(0.0, f64::max)) };
            let growth = growth.map_or("–".to_owned(), times);
            let tail = [right(reached), right(growth), cell(spark(&own, bounds, style))];
            table.add_row(std::iter::once(cell(whole(&curve.label))).chain(cells).chain(tail));
        }
        let title = format!("Cost per {} by {axis}, {}", first.unit, first.variant.placement.title());
        out.push_str(&format!("\n{}\n{}", style.bold(&title), drawn(&mut table).replace(HARD, " ")));
        if shown.len() < places.len() {
            let left = format!("{} of {} points are shown; the rest by --format csv", shown.len(), places.len());
            out.push_str(&wrapped("  ", &left, style));
        }
        let ends = [&places[0], &places[places.len() - 1]];
        let named =
            |x: u64| if axis == CONTEXTS { format!("{} contexts", value(x)) } else { format!("{axis}={}", value(x)) };
        let ends = ends.map(|x| (named(*x), cheapest(&analysis.rows, &curves, *x)));
        out.push_str(&wrapped("  ", &concluded(&ends, &mut grown), style));
    }
    out
}

/// Columns of a figure with its interval, and without.
const WITH_INTERVAL: usize = 15;
const ALONE: usize = 9;
/// Columns of growth and picture.
const GROWTH: usize = 28;
/// Points of a picture.
const SPARKS: usize = 8;
/// Names in a sentence.
const NAMES: usize = 3;

/// A blank at which no line is broken.
const HARD: char = '\u{a0}';

/// A name that stays on one line.
fn whole(name: &str) -> String {
    name.replace(' ', &HARD.to_string())
}

/// So many of these, the first and the last among them.
fn spread<T: Copy>(all: &[T], most: usize) -> Vec<T> {
    let count = all.len().min(most);
    (0..count).map(|place| all[place * (all.len() - 1) / (count - 1).max(1)]).collect()
}

/// A figure, or one for each mode.
fn figure(row: Option<&Row<'_>>, width: bool) -> String {
    let Some(row) = row else { return "–".to_owned() };
    if !row.summary.modes.is_empty() {
        let modes = row.summary.modes.iter().map(|mode| row.quantity.amount(mode.value));
        return modes.collect::<Vec<_>>().join(" | ");
    }
    let Some(figures) = &row.summary.figures else { return "–".to_owned() };
    let amount = row.quantity.amount(row.median().unwrap_or(figures.median));
    match figures.interval.filter(|_| width) {
        Some(interval) => format!("{amount} ±{:.0} %", interval.relative_half_width(figures.median) * 100.0),
        None => amount,
    }
}

/// `×4.3`, or `÷1.2` if it falls.
fn times(growth: f64) -> String {
    if growth < 0.995 { format!("÷{}", factor(1.0 / growth)) } else { format!("×{}", factor(growth)) }
}

/// The way of a curve, on the scale that all of a table share.
fn spark(values: &[Option<f64>], bounds: (f64, f64), style: Style) -> String {
    levels(&spread(values, SPARKS), bounds, style)
}

/// A bar for each value, by its logarithm; nothing if only ASCII is shown.
pub(crate) fn levels(values: &[Option<f64>], (low, high): (f64, f64), style: Style) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if style.ascii || low <= 0.0 || high <= low {
        return String::new();
    }
    let level = |value: f64| ((value / low).ln() / (high / low).ln() * 7.0).round().clamp(0.0, 7.0) as usize;
    values.iter().map(|value| value.map_or(' ', |value| LEVELS[level(value)])).collect()
}

/// What costs least at both ends, and what grows most.
fn concluded(ends: &[(String, Vec<&str>); 2], grown: &mut [(f64, &str)]) -> String {
    let few = |names: &[&str]| match names {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        names if names.len() > NAMES => format!("{} and {} more", names[..NAMES].join(", "), names.len() - NAMES),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    };
    let cost = |names: &[&str]| if names.len() == 1 { "costs" } else { "cost" };
    let [(from, first), (to, last)] = ends;
    let least = if first == last {
        format!("{} {} least from {from} to {to}", few(first), cost(first))
    } else {
        format!("{} {} least at {from}, {} at {to}", few(first), cost(first), few(last))
    };
    grown.sort_by(|a, b| a.0.total_cmp(&b.0));
    match grown {
        [] => format!("{least}."),
        [(only, name)] => format!("{name}: {} from {from} to {to}.", times(*only)),
        [(low, still), .., (high, fast)] => {
            format!("{least}; {fast} grows most ({}), {still} least ({}).", times(*high), times(*low))
        }
    }
}

/// Tables for a terminal; empty if the rows make neither curve nor matrix.
pub(crate) fn text(analysis: &Analysis<'_>, style: Style) -> String {
    let mut out = String::new();
    for curve in analysis.curves.iter().filter(|curve| !curve.splits.is_empty()) {
        let mut table = style.table();
        fill_split(analysis, &mut table, curve);
        out.push_str(&format!("\n{}\n{}", style.bold(&split_title(analysis, curve)), drawn(&mut table)));
    }
    for matrix in &analysis.matrices {
        let mut table = style.table();
        fill_matrix(analysis, &mut table, matrix);
        out.push_str(&format!("\n{}\n{}", style.bold(&matrix_title(&matrix.label)), drawn(&mut table)));
        out.push_str(&by_relation(analysis, matrix));
    }
    out
}

/// The tables as Markdown.
pub(crate) fn markdown(analysis: &Analysis<'_>) -> String {
    let mut out = String::new();
    let mut add = |title: String, fill: &dyn Fn(&mut Table), tail: &str| {
        let mut table = Table::new();
        table.load_preset(comfy_table::presets::ASCII_MARKDOWN);
        fill(&mut table);
        out.push_str(&format!("\n{title}\n\n{}{tail}", drawn(&mut table)));
    };
    for curve in analysis.curves.iter().filter(|curve| !curve.splits.is_empty()) {
        add(split_title(analysis, curve), &|table| fill_split(analysis, table, curve), "");
    }
    for matrix in &analysis.matrices {
        let tail = format!("\n{}", by_relation(analysis, matrix));
        add(matrix_title(&matrix.label), &|table| fill_matrix(analysis, table, matrix), &tail);
    }
    out
}

fn fill_split(analysis: &Analysis<'_>, table: &mut Table, curve: &Curve) {
    let control = curve.control.as_ref().map_or(String::new(), ToString::to_string);
    let alone = format!("{control} alone");
    let header = [&curve.axis, "total", &alone, "direct", "indirect", "95 % interval", ""];
    table.set_header(header.map(right));
    let cost = |row: usize| right(analysis.rows[row].median().map_or("–".to_owned(), nanoseconds));
    for split in &curve.splits {
        let Some(total) = curve.points.iter().find(|point| point.x == split.x) else { continue };
        let interval = split.interval.map_or("–".to_owned(), |interval| {
            format!("{} … {}", nanoseconds(interval.low), nanoseconds(interval.high))
        });
        table.add_row([
            right(size(split.x)),
            cost(total.row),
            cost(split.control),
            cost(split.direct),
            right(split.indirect.map_or("–".to_owned(), nanoseconds)),
            right(interval),
            cell(if split.resolved() { "" } else { "not resolved" }),
        ]);
    }
}

fn fill_matrix(analysis: &Analysis<'_>, table: &mut Table, matrix: &Matrix) {
    let header = std::iter::once("CPU".to_owned()).chain(matrix.cpus.iter().map(u32::to_string));
    table.set_header(header.map(right));
    for a in &matrix.cpus {
        let cell = |b: &u32| {
            let row = matrix.cells.get(&(*a.min(b), *a.max(b)));
            right(row.and_then(|row| analysis.rows[*row].median()).map_or("–".to_owned(), nanoseconds))
        };
        table.add_row(std::iter::once(right(a)).chain(matrix.cpus.iter().map(cell)));
    }
}

/// Median over the pairs of each relation.
fn by_relation(analysis: &Analysis<'_>, matrix: &Matrix) -> String {
    let mut groups: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    let mut unknown = 0;
    for (&(a, b), &row) in &matrix.cells {
        let Some(median) = analysis.rows[row].median() else { continue };
        match analysis.topology.relation(a, b) {
            Some(relation) => groups.entry(relation).or_default().push(median),
            None => unknown += 1,
        }
    }
    let mut parts: Vec<String> = groups
        .into_iter()
        .filter_map(|(relation, values)| {
            let median = switchcost_stats::median(&values)?;
            Some(format!("{} {} (pairs: {})", relation.as_str(), nanoseconds(median), values.len()))
        })
        .collect();
    if unknown > 0 {
        parts.push(format!("topology unknown (pairs: {unknown})"));
    }
    format!("Medians by what the CPUs share: {}\n", parts.join(" · "))
}

fn split_title(analysis: &Analysis<'_>, curve: &Curve) -> String {
    format!(
        "{}: ns/{} by {}; direct is the cost at 0, indirect = total − {} alone − direct, by rounds",
        curve.label,
        analysis.rows[curve.points[0].row].unit,
        curve.axis,
        curve.control.as_ref().map_or(String::new(), ToString::to_string),
    )
}

fn matrix_title(name: &str) -> String {
    format!("{name}: ns per switch between each pair of CPUs (on the diagonal: on one CPU)")
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
