//! What rows show together: curves and matrices, with their names.

use crate::curves::{Curve, Line, Matrix, Split, lines, matrices, split};
use crate::label::{label, several_probes, shared_label};
use crate::row::Row;
use std::collections::BTreeSet;
use switchcost_catalogue::Catalogue;
use switchcost_model::{MechanismId, Placement, Run, Variant};

/// All curves with the parts of their cost, and all matrices.
pub(crate) fn together(run: &Run, rows: &[Row<'_>], catalogue: &Catalogue) -> (Vec<Curve>, Vec<Matrix>) {
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
    let several = several_probes(run);
    let curve = |(line, control, splits): (Line, Option<MechanismId>, Vec<Split>)| {
        let label = shared_label(&line.variant, &line.axis, catalogue, several(&line.variant));
        let serves = controls.contains(&(line.variant.mechanism.clone(), line.axis.clone()));
        Curve { line, label, control, splits, serves }
    };
    let curves = all.into_iter().map(curve).collect();
    let mut matrices = matrices(rows);
    for matrix in &mut matrices {
        let shared = Variant { placement: Placement::usual(), ..matrix.variant.clone() };
        matrix.label = label(&shared, catalogue, several(&shared));
    }
    (curves, matrices)
}
