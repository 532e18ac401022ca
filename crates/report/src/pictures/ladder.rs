//! What each kind of switch costs, on one axis, beside what others published.

use super::paper::{ALARM, Drawn, FAINT, Glyph, Hand, Paper, colour};
use super::rows::{Axis, Item, Seats, Sheet, headed, shown};
use super::{Picture, title};
use crate::number::{Quantity, factor};
use crate::rows::Line;
use plotters::prelude::*;
use switchcost_catalogue::{Catalogue, Published, published};
use switchcost_model::{Experiment, Run, Verdict};

const KEY: [(Glyph, &str); 4] = [
    (Glyph::Dot, "median over starts"),
    (Glyph::Bar, "its 95 % interval"),
    (Glyph::Tick, "luckiest batch"),
    (Glyph::Split, "99th percentile of batches"),
];
const OTHERS: (Glyph, &str) = (Glyph::Diamond, "published by others, see below");
const HOLLOW: (Glyph, &str) = (Glyph::Hollow, "not verified");

/// What of others stands in a row's lane: numbers in the list below.
struct Lane {
    row: usize,
    marks: Vec<(usize, f64, Option<f64>)>,
}

pub(super) fn picture(
    name: String,
    run: &Run,
    experiment: Experiment,
    lines: &[&Line<'_>],
    catalogue: &Catalogue,
) -> Result<Option<Picture>, String> {
    let (lines, cut) = shown(lines);
    let quantity = Quantity::of(experiment);
    let paint = |line: &Line<'_>| colour(line.row.variant.mechanism.family(), catalogue);
    let mut items: Vec<Item> = lines.iter().map(|line| Item::of(line, end(line, quantity), paint(line))).collect();
    headed(lines, &mut items, catalogue);
    let all = published();
    let (lanes, cited) = lanes(lines, quantity, &all);
    for lane in &lanes {
        items[lane.row].lane = true;
    }
    let figures = lines.iter().filter_map(|line| line.row.summary.figures.as_ref());
    let mut values: Vec<f64> = figures
        .flat_map(|f| {
            let (low, high) = f.interval.map_or((f.median, f.median), |interval| (interval.low, interval.high));
            let ends = if quantity == Quantity::Time { [f.min, f.p99] } else { [f.median; 2] };
            [f.median, low, high, ends[0], ends[1]]
        })
        .collect();
    values.extend(lanes.iter().flat_map(|lane| &lane.marks).flat_map(|(_, low, high)| [*low, high.unwrap_or(*low)]));
    let mut key = KEY[..if quantity == Quantity::Time { 4 } else { 2 }].to_vec();
    if lines.iter().any(|line| line.row.summary.figures.is_some() && line.row.verdict != Verdict::Verified) {
        key.push(HOLLOW);
    }
    let mut notes: Vec<String> = cut.into_iter().collect();
    if !cited.is_empty() {
        key.push(OTHERS);
        notes.push("Published by others, on other machines and by other methods:".to_owned());
    }
    if lines.iter().any(|line| line.times_cheapest.is_some()) {
        notes.insert(
            0,
            "× is the ratio of medians to the cheapest verified switch of the run. The scale is logarithmic."
                .to_owned(),
        );
    }
    let list = cited.iter().enumerate().map(|(i, value)| told(i + 1, value)).collect();
    let sheet = Sheet {
        name,
        title: title(experiment).to_owned(),
        run,
        items: &items,
        axis: Axis { quantity, values, ticks: None },
        key: &key,
        notes,
        list,
    };
    sheet.draw(|paper, seats| {
        for lane in &lanes {
            beside(paper, seats, lane)?;
        }
        for (i, line) in lines.iter().enumerate() {
            row(paper, seats, i, line, paint(line), quantity)?;
        }
        Ok(())
    })
}

fn end(line: &Line<'_>, quantity: Quantity) -> String {
    let Some(figures) = &line.row.summary.figures else { return String::new() };
    let unit =
        if line.unit == "switch" || quantity == Quantity::Memory { String::new() } else { format!("/{}", line.unit) };
    let times = line.times_cheapest.map_or(String::new(), |times| format!("  ×{}", factor(times)));
    format!("{}{unit}{times}", quantity.amount(figures.median))
}

fn row(paper: &Paper<'_>, seats: &Seats, i: usize, line: &Line<'_>, colour: RGBColor, quantity: Quantity) -> Drawn {
    let Some(figures) = line.row.summary.figures.as_ref().filter(|figures| figures.median > 0.0) else { return Ok(()) };
    let y = seats.rows[i];
    let at = |value: f64| seats.scale.at(value);
    if quantity == Quantity::Time {
        paper.glyph(Glyph::Tick, (at(figures.min), y), colour)?;
        paper.glyph(Glyph::Split, (at(figures.p99), y), colour)?;
    }
    if let Some(interval) = figures.interval {
        paper.bar((at(interval.low), at(interval.high)), y, colour)?;
    }
    let (glyph, colour) = match line.row.verdict {
        Verdict::Verified => (Glyph::Dot, colour),
        Verdict::Contradicted => (Glyph::Cross, ALARM),
        _ => (Glyph::Hollow, colour),
    };
    paper.glyph(glyph, (at(figures.median), y), colour)
}

/// Figures of others for these rows, and each of them once in the order of the rows.
fn lanes<'p>(lines: &[&Line<'_>], quantity: Quantity, all: &'p [Published]) -> (Vec<Lane>, Vec<&'p Published>) {
    let mut cited: Vec<&Published> = Vec::new();
    let mut lanes = Vec::new();
    for (row, line) in lines.iter().enumerate() {
        if quantity != Quantity::Time || line.row.summary.figures.is_none() {
            continue;
        }
        let unit = format!("ns per {}", line.unit);
        let mine = |value: &&Published| {
            value.mechanism.as_deref() == Some(line.row.variant.mechanism.as_str()) && value.unit == unit
        };
        let mut marks = Vec::new();
        for value in all.iter().filter(mine) {
            let place = cited.iter().position(|known| known.name == value.name).unwrap_or_else(|| {
                cited.push(value);
                cited.len() - 1
            });
            marks.push((place + 1, value.low, value.high));
        }
        if !marks.is_empty() {
            lanes.push(Lane { row, marks });
        }
    }
    (lanes, cited)
}

fn told(number: usize, value: &Published) -> String {
    let high = value.high.map_or(String::new(), |high| format!(" – {}", Quantity::Time.amount(high)));
    // The year first: long names of machines are cut.
    let year = value.year.map_or(String::new(), |year| format!("{year}, "));
    format!("[{number}] {}{high}: {year}{}", Quantity::Time.amount(value.low), value.machine)
}

/// Diamonds, each with its number; where two stand too close their numbers stand together behind the last.
fn beside(paper: &Paper<'_>, seats: &Seats, lane: &Lane) -> Drawn {
    let y = seats.lane(lane.row);
    let hand = Hand::new(9, FAINT);
    let mut marks: Vec<(i32, i32, usize)> = lane
        .marks
        .iter()
        .map(|&(number, low, high)| (seats.scale.at(low), seats.scale.at(high.unwrap_or(low)), number))
        .collect();
    marks.sort_unstable();
    let mut groups: Vec<(i32, i32, String)> = Vec::new();
    for &(from, to, number) in &marks {
        paper.line((from, y), (to, y), FAINT.mix(0.6).stroke_width(1))?;
        match groups.last_mut() {
            Some((_, end, numbers)) if from - 6 < *end + 7 + hand.width(numbers) => {
                *end = to.max(*end);
                numbers.push_str(&format!(",{number}"));
            }
            _ => groups.push((from, to, number.to_string())),
        }
    }
    for &(from, _, _) in &marks {
        paper.glyph(Glyph::Diamond, (from, y), FAINT)?;
    }
    for (start, end, numbers) in groups {
        let room = hand.width(&numbers);
        if end + 7 + room > seats.sides.1 + 40 {
            paper.text(&numbers, (start - 7, y), room, hand.before())?;
        } else {
            paper.text(&numbers, (end + 7, y), room, hand)?;
        }
    }
    Ok(())
}
