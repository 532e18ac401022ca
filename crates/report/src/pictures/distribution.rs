//! How far starts and batches differ.

use super::paper::{ALARM, Glyph, TEXT, colour};
use super::rows::{Axis, Item, Sheet, headed, shown};
use super::{Picture, title};
use crate::number::Quantity;
use crate::rows::Line;
use plotters::prelude::*;
use std::collections::BTreeMap;
use switchcost_analysis::{Detail, SHARES};
use switchcost_catalogue::Catalogue;
use switchcost_model::{Experiment, Run};

const KEY: [(Glyph, &str); 4] = [
    (Glyph::Speck, "median of a start"),
    (Glyph::Cross, "start that does not count: disturbed or not verified"),
    (Glyph::Bar, "10th to 90th percentile of all batches; thin: 1st to 99th"),
    (Glyph::Tick, "median of the row"),
];

pub(super) fn picture(
    name: String,
    run: &Run,
    experiment: Experiment,
    lines: &[&Line<'_>],
    details: &BTreeMap<usize, Detail>,
    catalogue: &Catalogue,
) -> Result<Option<Picture>, String> {
    let (lines, cut) = shown(lines);
    let quantity = Quantity::of(experiment);
    let none = Detail::default();
    let detail = |line: &Line<'_>| details.get(&line.row.index).unwrap_or(&none);
    let paint = |line: &Line<'_>| colour(line.row.variant.mechanism.family(), catalogue);
    let end = |line: &Line<'_>| line.row.summary.figures.as_ref().map_or(String::new(), |f| quantity.amount(f.median));
    let mut items: Vec<Item> = lines.iter().map(|line| Item::of(line, end(line), paint(line))).collect();
    headed(lines, &mut items, catalogue);
    let share = |detail: &Detail, share: f64| {
        let place = SHARES.iter().position(|known| *known == share)?;
        detail.batches.get(place).copied().filter(|value| *value > 0.0)
    };
    let medians = |line: &Line<'_>| -> Vec<(f64, bool)> {
        let starts = detail(line).starts.iter();
        starts.filter_map(|start| Some((start.spread?[2], start.counted))).filter(|(median, _)| *median > 0.0).collect()
    };
    let ends = |line: &&Line<'_>| [0.01, 0.99].into_iter().filter_map(|at| share(detail(line), at)).collect::<Vec<_>>();
    let values = lines.iter().flat_map(|line| {
        let mut values: Vec<f64> = medians(line).into_iter().map(|(median, _)| median).collect();
        values.extend(ends(line));
        values
    });
    let sheet = Sheet {
        name,
        title: format!("{}: how far starts and batches differ", title(experiment)),
        run,
        items: &items,
        axis: Axis { quantity, values: values.collect(), ticks: None },
        key: &KEY,
        notes: cut.into_iter().collect(),
        list: Vec::new(),
    };
    sheet.draw(|paper, seats| {
        for (line, &y) in lines.iter().zip(&seats.rows) {
            let colour = paint(line);
            let at = |value: f64| seats.scale.at(value);
            let detail = detail(line);
            if let (Some(low), Some(high)) = (share(detail, 0.01), share(detail, 0.99)) {
                paper.line((at(low), y), (at(high), y), colour.stroke_width(1))?;
            }
            if let (Some(low), Some(high)) = (share(detail, 0.1), share(detail, 0.9)) {
                let to = at(high).max(at(low) + 1);
                paper.block([(at(low), y - 4), (to, y + 4)], colour.mix(0.25).filled())?;
            }
            for (median, counted) in medians(line) {
                if counted {
                    paper.glyph(Glyph::Speck, (at(median), y), colour)?;
                } else {
                    paper.glyph(Glyph::Cross, (at(median), y), ALARM)?;
                }
            }
            if let Some(figures) = line.row.summary.figures.as_ref().filter(|figures| figures.median > 0.0) {
                paper.glyph(Glyph::Tick, (at(figures.median), y), TEXT)?;
            }
        }
        Ok(())
    })
}
