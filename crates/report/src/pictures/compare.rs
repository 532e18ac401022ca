//! A run against the one before it: ratios with intervals and verdicts, as `compare` judges them.

use super::Picture;
use super::paper::{FAINT, FASTER, Glyph, SLOWER, TEXT};
use super::rows::{Axis, Item, Sheet, shown};
use crate::compare::{ComparedRow, verdict_phrase};
use crate::html::{Derived, neighbours};
use crate::number::{Quantity, factor, percent};
use plotters::prelude::*;
use switchcost_analysis::Outcome;
use switchcost_model::Run;

const KEY: [(Glyph, &str); 4] = [
    (Glyph::Triangle, "dearer than before"),
    (Glyph::Square, "cheaper"),
    (Glyph::Dot, "the same, or cannot tell"),
    (Glyph::Bar, "interval of the ratio"),
];

/// Ticks of ratios near 1, of which as many are taken as fit.
const NEAR: [f64; 15] = [0.1, 0.2, 0.5, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0];

pub(super) fn picture(
    name: String,
    b: usize,
    runs: &[Run],
    derived: &[Derived<'_>],
) -> Result<Option<Picture>, String> {
    let noises: Vec<_> = derived.iter().map(|one| one.noise.clone()).collect();
    let compared = neighbours(b - 1, b, runs, derived, &noises).compared;
    let (rows, cut) = shown(&compared.rows);
    let floor = rows.iter().map(|row| row.comparison.floor).fold(0.0, f64::max);
    let items: Vec<Item> = rows.iter().map(item).collect();
    let mut values: Vec<f64> = vec![0.94, 1.06];
    for ComparedRow { comparison, .. } in rows {
        let (low, high) = comparison.interval.unwrap_or((comparison.ratio, comparison.ratio));
        values.extend([comparison.ratio, low, high]);
    }
    let mut notes: Vec<String> = cut.into_iter().collect();
    notes.push(format!("Right of 1: dearer than in run {}.", runs[b - 1].id));
    notes.push(format!(
        "Shade: noise floor of {}, by which equal things differ; dashes: threshold of {}.",
        percent(floor),
        percent(compared.threshold)
    ));
    notes.extend(compared.refused.iter().map(|reason| format!("No verdict: {reason}.")));
    if !compared.skipped.is_empty() {
        notes.push(format!(
            "{} rows that both have are not compared; `switchcost compare` says why.",
            compared.skipped.len()
        ));
    }
    let sheet = Sheet {
        name,
        title: format!("Ratio of costs: run {} against run {}", runs[b].id, runs[b - 1].id),
        run: &runs[b],
        items: &items,
        axis: Axis { quantity: Quantity::Time, ticks: ticks(&values), values },
        key: &KEY,
        notes,
        list: Vec::new(),
    };
    if rows.is_empty() {
        return Ok(None);
    }
    sheet.draw(|paper, seats| {
        let at = |ratio: f64| seats.scale.at(ratio);
        let (top, bottom) = seats.ends;
        paper.block([(at(1.0 / (1.0 + floor)), top), (at(1.0 + floor), bottom)], TEXT.mix(0.1).filled())?;
        for threshold in [1.0 / (1.0 + compared.threshold), 1.0 + compared.threshold] {
            for y in (top..bottom - 3).step_by(7) {
                paper.line((at(threshold), y), (at(threshold), y + 3), FAINT.stroke_width(1))?;
            }
        }
        paper.line((at(1.0), top), (at(1.0), bottom), TEXT.stroke_width(1))?;
        for ((row, item), &y) in rows.iter().zip(&items).zip(&seats.rows) {
            if let Some((low, high)) = row.comparison.interval {
                paper.bar((at(low), at(high)), y, item.colour)?;
            }
            let glyph = match row.comparison.outcome {
                Outcome::Slower => Glyph::Triangle,
                Outcome::Faster => Glyph::Square,
                Outcome::Same(_) | Outcome::CannotTell => Glyph::Dot,
            };
            paper.glyph(glyph, (at(row.comparison.ratio), y), item.colour)?;
        }
        Ok(())
    })
}

fn item(row: &ComparedRow) -> Item {
    let words = verdict_phrase(row.comparison.outcome, row.a.quantity);
    let colour = match row.comparison.outcome {
        Outcome::Slower => SLOWER,
        Outcome::Faster => FASTER,
        Outcome::Same(_) => TEXT,
        Outcome::CannotTell => FAINT,
    };
    let end = format!("×{}  {words}", factor(row.comparison.ratio));
    Item { label: row.b.label.clone(), end, words: None, colour, heading: None, lane: false }
}

/// Those of [`NEAR`] that lie within; None where ratios reach so far that powers of ten will do.
fn ticks(values: &[f64]) -> Option<Vec<(f64, String)>> {
    let (low, high) = values.iter().fold((1.0_f64, 1.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
    let within: Vec<f64> = NEAR.into_iter().filter(|tick| (low..=high).contains(tick)).collect();
    // 1 stays among them.
    let one = within.iter().position(|tick| *tick == 1.0)?;
    let step = within.len().div_ceil(6);
    let kept = within.iter().enumerate().filter(|(i, _)| i % step == one % step);
    (high / low <= 100.0).then(|| kept.map(|(_, tick)| (*tick, format!("×{tick}"))).collect())
}
