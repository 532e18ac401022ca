//! Pictures with a line for each row: label, marks on a common axis, a word at the end.

use super::paper::{Drawn, FAINT, Glyph, Hand, Paper, RULE, TEXT, WIDTH, picture};
use super::scale::Scale;
use super::{Picture, about};
use crate::number::Quantity;
use crate::rows::Line;
use plotters::prelude::*;
use switchcost_catalogue::Catalogue;
use switchcost_model::{Run, Verdict};

/// Rows in a picture: more would be unreadable.
const MOST_ROWS: usize = 100;

/// Of a row.
const HEIGHT: i32 = 20;

/// Of the lane below a row for what others published.
const LANE: i32 = 13;

/// Between two columns.
const GAP: i32 = 10;

const MARGIN: i32 = 12;
const SIZE: u32 = 12;
const SMALL: u32 = 11;

/// One line.
pub(super) struct Item {
    pub label: String,
    /// At the end of the line.
    pub end: String,
    /// In the place of marks: why there are none, and whether that is alarming.
    pub words: Option<(String, bool)>,
    /// Colour of the label's swatch: its family's.
    pub colour: RGBColor,
    /// Title above it, if it is the first of its group.
    pub heading: Option<String>,
    /// It has a lane below.
    pub lane: bool,
}

impl Item {
    /// Of a row; `end` says its figure.
    pub fn of(line: &Line<'_>, end: String, colour: RGBColor) -> Self {
        let row = &line.row;
        let alarm = matches!(row.verdict, Verdict::Contradicted | Verdict::Broken);
        let drawable = row.summary.figures.as_ref().is_some_and(|figures| figures.median > 0.0);
        let words = || match (row.verdict, row.reason.as_str()) {
            (Verdict::Verified, _) => "no figure above zero".to_owned(),
            (verdict, "") => verdict.to_string(),
            (verdict, reason) => format!("{verdict}: {reason}"),
        };
        let words = (!drawable).then(|| (words(), alarm));
        Self { label: line.label.clone(), end, words, colour, heading: None, lane: false }
    }
}

/// Gives the first row of each family the family's title.
pub(super) fn headed<'l>(lines: &[&'l Line<'l>], items: &mut [Item], catalogue: &Catalogue) {
    let mut before = "";
    for (line, item) in lines.iter().zip(items) {
        let family = line.row.variant.mechanism.family();
        if family != before {
            let known = catalogue.families.iter().find(|known| known.id == family);
            item.heading = Some(known.map_or(family, |known| known.title.as_str()).to_owned());
            before = family;
        }
    }
}

/// As many rows as a picture holds, and what is said if these are not all.
pub(super) fn shown<T>(all: &[T]) -> (&[T], Option<String>) {
    let kept = &all[..all.len().min(MOST_ROWS)];
    (kept, (kept.len() < all.len()).then(|| format!("The first {} of {} rows.", kept.len(), all.len())))
}

/// What is the axis of such a picture.
pub(super) struct Axis {
    pub quantity: Quantity,
    /// All that must find room on it.
    pub values: Vec<f64>,
    /// Its ticks with their words, where round numbers will not do.
    pub ticks: Option<Vec<(f64, String)>>,
}

/// What is around the rows.
pub(super) struct Sheet<'a> {
    pub name: String,
    pub title: String,
    pub run: &'a Run,
    pub items: &'a [Item],
    pub axis: Axis,
    /// What the marks mean.
    pub key: &'a [(Glyph, &'static str)],
    /// Sentences below.
    pub notes: Vec<String>,
    /// Short texts below, in two columns.
    pub list: Vec<String>,
}

/// Where the marks of the rows go.
pub(super) struct Seats {
    pub scale: Scale,
    /// Height of each row's middle.
    pub rows: Vec<i32>,
    /// Ends of the axis, left and right.
    pub sides: (i32, i32),
    /// Ends of the rows, top and bottom.
    pub ends: (i32, i32),
}

impl Seats {
    /// Height of the lane below a row.
    pub fn lane(&self, row: usize) -> i32 {
        self.rows[row] + HEIGHT / 2 + LANE / 2 - 2
    }
}

impl Sheet<'_> {
    /// The picture, with `marks` drawn over lines and labels; None if there is nothing to draw on its axis.
    pub fn draw(self, marks: impl FnOnce(&Paper<'_>, &Seats) -> Drawn) -> Result<Option<Picture>, String> {
        let widest = |text: fn(&Item) -> &str| {
            self.items.iter().map(|item| Hand::new(SIZE, TEXT).width(text(item))).max().unwrap_or(0)
        };
        let left = MARGIN + widest(|item| &item.label).min(WIDTH * 36 / 100) + GAP;
        let right = WIDTH - MARGIN - widest(|item| &item.end).min(WIDTH * 30 / 100) - GAP;
        let Some(scale) = Scale::of(self.axis.values.iter().copied(), (left, right)) else { return Ok(None) };
        let top = MARGIN + 66 + 16 * key_lines(self.key);
        let mut y = top;
        let mut rows = Vec::new();
        for item in self.items {
            y += if item.heading.is_some() { HEIGHT + 4 } else { 0 };
            rows.push(y + HEIGHT / 2);
            y += HEIGHT + if item.lane { LANE } else { 0 };
        }
        let seats = Seats { scale, rows, sides: (left, right), ends: (top, y) };
        let listed = self.list.len().div_ceil(2) as i32 * 15;
        let height = y + 30 + 16 * self.notes.len() as i32 + listed + if listed > 0 { 6 } else { 0 } + MARGIN;
        let Self { name, .. } = &self;
        let drawn = picture(name.clone(), height, |paper| {
            self.head(paper)?;
            self.grid(paper, &seats)?;
            self.labels(paper, &seats)?;
            marks(paper, &seats)?;
            self.foot(paper, y + 30)
        })?;
        Ok(Some(drawn))
    }

    fn head(&self, paper: &Paper<'_>) -> Drawn {
        head(paper, &self.title, self.run)?;
        let mut at = (MARGIN, MARGIN + 48);
        for (glyph, meaning) in self.key {
            let width = key_width(meaning);
            if at.0 + width > WIDTH - MARGIN {
                at = (MARGIN, at.1 + 16);
            }
            paper.glyph(*glyph, (at.0 + 8, at.1), FAINT)?;
            paper.text(meaning, (at.0 + 20, at.1), WIDTH, Hand::new(SMALL, FAINT))?;
            at.0 += width;
        }
        Ok(())
    }

    fn grid(&self, paper: &Paper<'_>, seats: &Seats) -> Drawn {
        let Seats { scale, sides, ends, .. } = seats;
        let quantity = self.axis.quantity;
        let room = ((sides.1 - sides.0) / 62).max(2) as usize;
        let ticks = self.axis.ticks.clone().unwrap_or_else(|| {
            scale.ticks(quantity, room).into_iter().map(|tick| (tick, quantity.tick(tick))).collect()
        });
        let hand = Hand::new(SMALL, FAINT).centred();
        let mut written: Vec<(i32, i32)> = Vec::new();
        // Labels that would cover one another are left out; a line stands for each tick. 1 keeps its label: ratios are read from there.
        let (ones, others): (Vec<_>, Vec<_>) = ticks.iter().partition(|(tick, _)| (*tick - 1.0).abs() < f64::EPSILON);
        for (tick, words) in ones.into_iter().chain(others) {
            let x = scale.at(*tick);
            paper.line((x, ends.0), (x, ends.1), RULE.stroke_width(1))?;
            let half = hand.width(words) / 2 + 3;
            if written.iter().any(|&(from, to)| x - half < to && from < x + half) {
                continue;
            }
            written.push((x - half, x + half));
            for y in [ends.0 - 9, ends.1 + 11] {
                paper.text(words, (x, y), WIDTH, hand)?;
            }
        }
        Ok(())
    }

    fn labels(&self, paper: &Paper<'_>, seats: &Seats) -> Drawn {
        let (left, right) = seats.sides;
        for (item, &y) in self.items.iter().zip(&seats.rows) {
            if let Some(heading) = &item.heading {
                let at = (MARGIN, y - HEIGHT + 1);
                // Over the grid: nothing is drawn through words.
                let hand = Hand::new(SIZE, item.colour).bold();
                paper.block(
                    [(at.0, at.1 - 8), (at.0 + hand.width(heading).min(WIDTH - 2 * MARGIN), at.1 + 8)],
                    WHITE.filled(),
                )?;
                paper.text(heading, at, WIDTH - 2 * MARGIN, hand)?;
            }
            paper.line((left, y), (right, y), RULE.mix(0.6).stroke_width(1))?;
            paper.text(&item.label, (left - GAP, y), left - GAP - MARGIN, Hand::new(SIZE, TEXT).before())?;
            paper.text(&item.end, (right + GAP, y), WIDTH - MARGIN - right - GAP, Hand::new(SIZE, TEXT))?;
            if let Some((words, alarm)) = &item.words {
                let hand = Hand::new(SMALL, if *alarm { super::paper::ALARM } else { FAINT });
                let room = WIDTH - MARGIN - left - 4;
                paper.block([(left + 2, y - 8), (left + 6 + hand.width(words).min(room), y + 8)], WHITE.filled())?;
                paper.text(words, (left + 4, y), room, hand)?;
            }
        }
        Ok(())
    }

    fn foot(&self, paper: &Paper<'_>, mut y: i32) -> Drawn {
        let hand = Hand::new(SMALL, FAINT);
        for note in &self.notes {
            paper.text(note, (MARGIN, y), WIDTH - 2 * MARGIN, hand)?;
            y += 16;
        }
        let half = self.list.len().div_ceil(2);
        let column = (WIDTH - 2 * MARGIN) / 2;
        for (i, text) in self.list.iter().enumerate() {
            let at = (MARGIN + if i >= half { column + 4 } else { 0 }, y + 4 + 15 * (i % half.max(1)) as i32);
            paper.text(text, at, column - 6, Hand::new(10, FAINT))?;
        }
        Ok(())
    }
}

/// Title, and which run it is.
pub(super) fn head(paper: &Paper<'_>, title: &str, run: &Run) -> Drawn {
    paper.text(title, (MARGIN, MARGIN + 8), WIDTH - 2 * MARGIN, Hand::new(16, TEXT).bold())?;
    paper.text(&about(run), (MARGIN, MARGIN + 28), WIDTH - 2 * MARGIN, Hand::new(SMALL, FAINT))
}

fn key_width(meaning: &str) -> i32 {
    34 + Hand::new(SMALL, FAINT).width(meaning)
}

fn key_lines(key: &[(Glyph, &'static str)]) -> i32 {
    let (mut lines, mut x) = (1, MARGIN);
    for (_, meaning) in key {
        if x + key_width(meaning) > WIDTH - MARGIN {
            (lines, x) = (lines + 1, MARGIN);
        }
        x += key_width(meaning);
    }
    lines
}
