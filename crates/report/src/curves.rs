//! What rows show together: curves, direct and indirect cost, matrices over CPU pairs.

use crate::text::{Style, cell, drawn, right};
use comfy_table::Table;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_analysis::number::{grouped, nanoseconds, percent};
use switchcost_analysis::{Analysis, CONTEXTS, Curve, Matrix};

/// For the short form: splits and matrices, then one line a point and one column a curve.
pub(crate) fn brief(analysis: &Analysis<'_>, style: Style) -> String {
    text(analysis, style).trim_start_matches('\n').to_owned() + &points(analysis, style)
}

/// A table for each axis and quantity: one line a point, one column a curve.
fn points(analysis: &Analysis<'_>, style: Style) -> String {
    let mut out = String::new();
    let kind =
        |curve: &Curve| (curve.axis.clone(), curve.points.first().map(|point| analysis.rows[point.row].measure()));
    let mut kinds: Vec<_> = Vec::new();
    for curve in &analysis.curves {
        if !kinds.contains(&kind(curve)) {
            kinds.push(kind(curve));
        }
    }
    for kind_of in kinds {
        let curves: Vec<&Curve> = analysis.curves.iter().filter(|curve| kind(curve) == kind_of).collect();
        let places: BTreeSet<u64> =
            curves.iter().flat_map(|curve| curve.points.iter().chain(&curve.gaps)).map(|p| p.x).collect();
        let mut table = style.table();
        table.set_header(std::iter::once(&kind_of.0).chain(curves.iter().map(|curve| &curve.label)).map(right));
        for x in places {
            let cost = |curve: &&Curve| {
                let row = curve.points.iter().find(|point| point.x == x).map(|point| &analysis.rows[point.row]);
                let figure =
                    row.and_then(|row| Some((row.quantity.amount(row.median()?), row.summary.figures.as_ref()?)));
                right(figure.map_or("–".to_owned(), |(amount, figures)| match figures.interval {
                    Some(interval) => format!("{amount} ±{}", percent(interval.relative_half_width(figures.median))),
                    None => amount,
                }))
            };
            let x = if kind_of.0 == CONTEXTS { grouped(i64::try_from(x).unwrap_or(i64::MAX)) } else { size(x) };
            table.add_row(std::iter::once(right(x)).chain(curves.iter().map(cost)));
        }
        let unit = curves.iter().flat_map(|curve| &curve.points).map(|point| &analysis.rows[point.row].unit).next();
        let title = format!("per {}, by {}", unit.map_or("unit", String::as_str), kind_of.0);
        out.push_str(&format!("\n{}\n{}", style.bold(&title), drawn(&mut table)));
    }
    out
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
