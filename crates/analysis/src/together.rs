//! What rows show together: curves, matrices, and the order of the ladder.

use crate::curves::{Curve, Line, Matrix, Split, lines, matrices, split};
use crate::label::{label, several_probes, shared_label};
use crate::row::Row;
use std::collections::BTreeSet;
use switchcost_catalogue::Catalogue;
use switchcost_model::{MechanismId, Placement, Run, Variant};

/// All curves with their names and the parts of their cost.
pub(crate) fn named_curves(run: &Run, rows: &[Row<'_>], catalogue: &Catalogue) -> Vec<Curve> {
    let several = several_probes(run);
    let control = |line: &Line| {
        catalogue.find(&line.variant.mechanism)?.parameters.get(&line.axis).and_then(|axis| axis.control.clone())
    };
    let parts = |line: Line| {
        let control = control(&line);
        let splits = control.as_ref().map_or_else(Vec::new, |control| split(&line, rows, control));
        (line, control, splits)
    };
    let all: Vec<(Line, Option<MechanismId>, Vec<Split>)> = lines(rows).into_iter().map(parts).collect();
    // Without a row at 0 nothing is split, and the control's curve is drawn by itself.
    let controls: BTreeSet<(MechanismId, String)> = all
        .iter()
        .filter(|(_, _, splits)| !splits.is_empty())
        .filter_map(|(line, control, _)| Some((control.clone()?, line.axis.clone())))
        .collect();
    let curve = |(line, control, splits): (Line, Option<MechanismId>, Vec<Split>)| {
        let label = shared_label(&line.variant, &line.axis, catalogue, several(&line.variant));
        let serves = controls.contains(&(line.variant.mechanism.clone(), line.axis.clone()));
        Curve { line, label, control, splits, serves }
    };
    all.into_iter().map(curve).collect()
}

pub(crate) fn named_matrices(run: &Run, rows: &[Row<'_>], catalogue: &Catalogue) -> Vec<Matrix> {
    let several = several_probes(run);
    matrices(rows, |variant| {
        let shared = Variant { placement: Placement::usual(), ..variant.clone() };
        label(&shared, catalogue, several(&shared))
    })
}

/// Indices of rows in the order of [`Analysis::ladder`].
pub(crate) fn order(curves: &[Curve], rows: &[Row<'_>], catalogue: &Catalogue) -> Vec<usize> {
    let cost = |row: &Row<'_>| row.median().unwrap_or(f64::INFINITY);
    // By what each row is sorted: its cost, or that of the cheapest on its curve; then curve and place on it.
    let mut places: Vec<(f64, (usize, u64))> = rows.iter().map(|row| (cost(row), (usize::MAX, 0))).collect();
    for (number, curve) in curves.iter().enumerate().rev() {
        let cheapest = curve.points.iter().map(|point| cost(&rows[point.row])).fold(f64::INFINITY, f64::min);
        for point in curve.points.iter().chain(&curve.gaps) {
            places[point.row] = (cheapest, (number, point.x));
        }
    }
    let rank = |index: &usize| catalogue.family_rank(rows[*index].variant.mechanism.family());
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| {
        let ((cost_a, place_a), (cost_b, place_b)) = (places[*a], places[*b]);
        rank(a).cmp(&rank(b)).then(cost_a.total_cmp(&cost_b)).then(place_a.cmp(&place_b))
    });
    order
}
