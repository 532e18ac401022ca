//! What rows show together: curves, direct and indirect cost, matrices over CPU pairs.

use crate::text::{Style, cell, drawn, right, wrapped};
use comfy_table::Table;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_analysis::number::{factor, grouped, nanoseconds, percent};
use switchcost_analysis::{Analysis, CONTEXTS, Curve, Growth, Matrix, Order, Row, order};

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
        let medians = |curve: &Curve| -> Vec<Option<f64>> {
            places.iter().map(|x| curve.at(&analysis.rows, *x)?.one()).collect()
        };
        let all: Vec<f64> = curves.iter().flat_map(|curve| medians(curve)).flatten().collect();
        let bounds = (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max));
        let growth = |curve: &Curve| {
            let own = medians(curve);
            let (first, last) = own.first().copied().flatten().zip(own.last().copied().flatten())?;
            Some(last / first).filter(|growth| growth.is_finite())
        };
        let widest = |curve: &Curve| {
            let width = |row: &Row<'_>| row.summary.figures.as_ref()?.half_width();
            let rows = curve.points.iter().map(|at| &analysis.rows[at.row]);
            let all = rows.filter(|row| row.summary.modes.is_empty()).map(width).collect::<Option<Vec<f64>>>();
            all.map_or("–".to_owned(), |all| percent(all.into_iter().fold(0.0, f64::max)))
        };
        let column = |title: &str, text: &dyn Fn(&Curve) -> String| -> Vec<String> {
            std::iter::once(title.to_owned()).chain(curves.iter().map(|curve| text(curve))).collect()
        };
        let columns = |intervals: bool| {
            let mut columns = vec![column("", &|curve| curve.label.clone())];
            columns.extend(
                places.iter().map(|x| column(&value(*x), &|curve| figure(curve.at(&analysis.rows, *x), intervals))),
            );
            if !intervals {
                columns.push(column("± up to", &widest));
            }
            columns.push(column("growth", &|curve| growth(curve).map_or("–".to_owned(), times)));
            columns.push(column("", &|curve| spark(&medians(curve), bounds, style)));
            columns
        };
        let mut blocks = blocks(|| Style::PLAIN.table(), style.width, &columns(true));
        if blocks.len() > 1 {
            blocks = self::blocks(|| Style::PLAIN.table(), style.width, &columns(false));
        }
        let title = format!("Cost per {} by {axis}, {}", first.unit, first.variant.placement.title());
        out.push_str(&format!("\n{}\n{}", style.bold(&title), blocks.join("\n")));
        let ends = [places[0], places[places.len() - 1]];
        let named =
            |x: u64| if axis == CONTEXTS { format!("{} contexts", value(x)) } else { format!("{axis}={}", value(x)) };
        let sentence = match curves.as_slice() {
            [only] => alone(Growth::of(&analysis.rows, only, ends), &only.label, &ends.map(named)),
            several => concluded(&order(&analysis.rows, several, ends), &ends.map(named)),
        };
        out.push_str(&wrapped("  ", &sentence, style));
    }
    out
}

/// Points of a picture.
const SPARKS: usize = 8;
/// Names in a sentence.
const NAMES: usize = 3;

/// One table, or several below one another if not all columns have room: each begins with the first column. A column without a title stays beside the
/// one before it.
fn blocks(new: fn() -> Table, width: Option<u16>, columns: &[Vec<String>]) -> Vec<String> {
    let wide = |column: &[String]| column.iter().map(|text| text.chars().count()).max().unwrap_or(0) + 2;
    let Some((names, others)) = columns.split_first() else { return Vec::new() };
    let room = width.map_or(usize::MAX - 1, usize::from).saturating_sub(wide(names)) + 1; // No blank behind the last.
    let mut blocks: Vec<Vec<&Vec<String>>> = Vec::new();
    let mut used = usize::MAX;
    for (place, column) in others.iter().enumerate() {
        let beside = others.get(place + 1).filter(|next| next[0].is_empty()).map_or(0, |next| wide(next));
        used = used.saturating_add(wide(column));
        match blocks.last_mut() {
            Some(block) if column[0].is_empty() || used.saturating_add(beside) <= room => block.push(column),
            _ => {
                blocks.push(vec![column]);
                used = wide(column);
            }
        }
    }
    let table = |block: &Vec<&Vec<String>>| {
        let line =
            |at: usize| std::iter::once(cell(&names[at])).chain(block.iter().map(move |column| right(&column[at])));
        let mut table = new();
        table.set_header(line(0)).add_rows((1..names.len()).map(line));
        drawn(&mut table)
    };
    blocks.iter().map(table).collect()
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
        return modes.collect::<Vec<_>>().join(" or ");
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

/// A factor as far as it is known.
fn grown(grown: &Growth<'_>) -> String {
    let (low, high) = grown.span;
    grown.carried().map_or_else(|| format!("{} to {}", times(low), times(high)), times)
}

/// How the only curve grows.
fn alone(found: Option<Growth<'_>>, label: &str, [from, to]: &[String; 2]) -> String {
    match found {
        None => format!("{label}: how it grows from {from} to {to} is open, since an interval is missing."),
        Some(Growth { span: (low, high), .. }) if low <= 1.0 && high >= 1.0 => {
            format!("{label}: no growth from {from} to {to} that its intervals show.")
        }
        Some(found) => format!("{label}: {} from {from} to {to}.", grown(&found)),
    }
}

/// What costs least at both ends, and what grows most.
fn concluded(order: &Order<'_>, [from, to]: &[String; 2]) -> String {
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
    let still = order.still.as_ref().filter(|_| most.is_some()).map(|all| match all.as_slice() {
        [one] if one.span.1 < 1.0 => named(all, "falls"),
        _ => named(all, "least"),
    });
    let growth: Vec<String> = most.into_iter().chain(still).collect();
    let said: Vec<String> = least.into_iter().chain((!growth.is_empty()).then(|| growth.join(", "))).collect();
    if said.is_empty() {
        return "No order: the intervals overlap, or a figure has none.".to_owned();
    }
    format!("{}.", said.join("; "))
}

/// Tables for a terminal; empty if the rows make neither curve nor matrix.
pub(crate) fn text(analysis: &Analysis<'_>, style: Style) -> String {
    let mut out = String::new();
    for curve in analysis.curves.iter().filter(|curve| !curve.splits.is_empty()) {
        let mut table = style.table();
        fill_split(analysis, &mut table, curve);
        out.push_str(&format!("\n{}{}", style.headline(&split_title(analysis, curve)), drawn(&mut table)));
    }
    for matrix in &analysis.matrices {
        let blocks = blocks(|| Style::PLAIN.table(), style.width, &matrix_columns(analysis, matrix));
        out.push_str(&format!("\n{}\n{}", style.bold(&matrix_title(&matrix.label)), blocks.join("\n")));
        out.push_str(&by_relation(analysis, matrix));
    }
    out
}

/// The tables as Markdown.
pub(crate) fn markdown(analysis: &Analysis<'_>) -> String {
    let mut out = String::new();
    let new: fn() -> Table = crate::text::markdown_table;
    for curve in analysis.curves.iter().filter(|curve| !curve.splits.is_empty()) {
        let mut table = new();
        fill_split(analysis, &mut table, curve);
        out.push_str(&format!("\n{}\n\n{}", split_title(analysis, curve), drawn(&mut table)));
    }
    for matrix in &analysis.matrices {
        let table = blocks(new, None, &matrix_columns(analysis, matrix)).concat();
        let title = matrix_title(&matrix.label);
        out.push_str(&format!("\n{title}\n\n{table}\n{}", by_relation(analysis, matrix)));
    }
    out
}

fn fill_split(analysis: &Analysis<'_>, table: &mut Table, curve: &Curve) {
    let control = curve.control.as_ref().map_or(String::new(), ToString::to_string);
    let alone = format!("{control} alone");
    let header = [&curve.axis, "total", &alone, "direct", "indirect", "95 % interval", ""];
    table.set_header(header.map(right));
    let cost = |row: usize| {
        let row = &analysis.rows[row];
        let modes = row.summary.modes.iter().map(|mode| mode.value);
        let figures: Vec<String> = row.one().into_iter().chain(modes).map(nanoseconds).collect();
        right(if figures.is_empty() { "–".to_owned() } else { figures.join(" or ") })
    };
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

/// A column for each CPU, after one that names the lines.
fn matrix_columns(analysis: &Analysis<'_>, matrix: &Matrix) -> Vec<Vec<String>> {
    let cost = |a: u32, b: u32| {
        let row = matrix.cells.get(&(a.min(b), a.max(b)));
        let row = row.map(|row| &analysis.rows[*row]);
        let modes = row.map_or(&[][..], |row| &row.summary.modes).iter().map(|mode| nanoseconds(mode.value));
        let modes = modes.collect::<Vec<_>>().join(" or ");
        row.and_then(|row| row.one()).map_or(if modes.is_empty() { "–".to_owned() } else { modes }, nanoseconds)
    };
    let column = |title: String, text: &dyn Fn(u32) -> String| -> Vec<String> {
        std::iter::once(title).chain(matrix.cpus.iter().map(|cpu| text(*cpu))).collect()
    };
    let names = std::iter::once(column("CPU".to_owned(), &|cpu| cpu.to_string()));
    names.chain(matrix.cpus.iter().map(|a| column(a.to_string(), &|b| cost(*a, b)))).collect()
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
