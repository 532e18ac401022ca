//! What a hand-off costs between each pair of CPUs.

use super::Picture;
use super::paper::{FAINT, Hand, PALETTE, TEXT, WIDTH, picture};
use super::rows::head;
use crate::curves::Shapes;
use crate::number::nanoseconds;
use plotters::prelude::*;
use switchcost_model::Run;

/// CPUs in a picture: of more the cells could not be read.
const MOST_CPUS: usize = 64;

/// Cells with room for their figure.
const WITH_WORDS: i32 = 34;

pub(super) fn pictures(prefix: &str, run: &Run, shapes: &Shapes<'_>) -> Result<Vec<Picture>, String> {
    let mut all = Vec::new();
    for (nth, (label, matrix)) in shapes.matrices.iter().enumerate() {
        let cost = |cell: &usize| shapes.median(*cell).filter(|cost| *cost > 0.0);
        let costs: Vec<f64> = matrix.cells.values().filter_map(cost).collect();
        let (low, high) = costs.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), c| (low.min(*c), high.max(*c)));
        let cpus = &matrix.cpus[..matrix.cpus.len().min(MOST_CPUS)];
        if costs.is_empty() {
            continue;
        }
        let side = ((WIDTH - 100) / cpus.len().max(1) as i32).clamp(8, 64);
        let (left, top) = (60, 100);
        let name =
            if shapes.matrices.len() > 1 { format!("{prefix}pairs-{}", nth + 1) } else { format!("{prefix}pairs") };
        let height = top + side * cpus.len() as i32 + 40;
        all.push(picture(name, height, |paper| {
            head(paper, &format!("{label}: ns a hand-off between two CPUs"), run)?;
            let hand = Hand::new(11, FAINT);
            let every = (24 / side + 1) as usize;
            for (i, cpu) in cpus.iter().enumerate() {
                let middle = side * i as i32 + side / 2;
                if i % every == 0 {
                    paper.text(&cpu.to_string(), (left + middle, top - 10), WIDTH, hand.centred())?;
                    paper.text(&cpu.to_string(), (left - 10, top + middle), WIDTH, hand.before())?;
                }
                for (j, other) in cpus.iter().enumerate() {
                    let cell = matrix.cells.get(&((*cpu).min(*other), (*cpu).max(*other)));
                    let Some(cost) = cell.and_then(cost) else { continue };
                    // Dark is dear; the scale is logarithmic.
                    let share = if high > low { (cost / low).ln() / (high / low).ln() } else { 0.0 };
                    let (x, y) = (left + side * j as i32, top + side * i as i32);
                    paper
                        .block([(x, y), (x + side - 1, y + side - 1)], PALETTE[1].mix(0.12 + 0.88 * share).filled())?;
                    if side >= WITH_WORDS {
                        let colour = if share > 0.5 { WHITE } else { TEXT };
                        let hand = Hand::new(if side >= 50 { 12 } else { 9 }, colour).centred();
                        paper.text(&nanoseconds(cost), (x + side / 2, y + side / 2), side - 2, hand)?;
                    }
                }
            }
            paper.text(
                "CPUs of the two contexts; on the diagonal both are on one. Dark is dear.",
                (12, height - 20),
                WIDTH - 24,
                hand,
            )
        })?);
    }
    Ok(all)
}
