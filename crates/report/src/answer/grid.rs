//! Cells in columns as wide as what is shown of them.

use super::axis::Axis;
use super::cell::{Cell, Section, Tint};
use crate::text::{FURTHER, KEPT, Style, folded, kept, wrapped};
use std::collections::BTreeSet;
use switchcost_analysis::Condition;
use switchcost_model::harmless_line;
use unicode_width::UnicodeWidthStr;

/// Between columns.
const GAP: usize = 2;

/// Longest name on one line, where the width is bounded.
const NAME: usize = 38;

/// Columns of a picture, at most.
const PICTURE: usize = 24;

/// Columns for words at a row's end that a picture leaves, at most.
const WORDS: usize = 30;

/// Texts of a section, and which of its columns are shown.
struct Grid<'s> {
    section: &'s Section,
    style: Style,
    /// Titles, then rows.
    texts: Vec<Vec<String>>,
    /// Columns of its pictures; none is shown.
    picture: Option<usize>,
    shown: Vec<usize>,
    /// Columns of the first one, and of pictures.
    name: usize,
    drawn: usize,
}

/// The lines of a section, each at most as wide as the terminal.
pub(super) fn drawn(section: &Section, style: Style) -> String {
    let width = style.width.map_or(usize::MAX, usize::from);
    let mut grid = Grid::new(section, style, false);
    let all = grid.used();
    let marks = grid.fit(&all, width) > 0 && grid.limits().next().is_some();
    if marks {
        grid = Grid::new(section, style, true);
        grid.fit(&all, width);
    }
    let mut out = grid.lines(width);
    let mut left: Vec<usize> = all.iter().filter(|column| !grid.shown.contains(column)).copied().collect();
    while section.goes_on && !left.is_empty() {
        let others: Vec<usize> = std::iter::once(0).chain(left.iter().copied()).collect();
        grid.fit(&others, width);
        out += &format!("\n{}", grid.lines(width));
        left.retain(|column| !grid.shown.contains(column));
    }
    let lost: Vec<&str> = left.iter().map(|column| section.columns[*column].title.as_str()).collect();
    let mut lost: Vec<&str> = lost.into_iter().filter(|title| !title.is_empty()).collect();
    if grid.loses_words(width) {
        lost.push("what each row is");
    }
    if !lost.is_empty() {
        out += &wrapped("  ", &format!("no room for: {}", lost.join(", ")), style);
    }
    if marks {
        let all: BTreeSet<(&'static str, char)> = grid.limits().map(|limit| (limit.word(), limit.mark())).collect();
        let all: Vec<String> = all.into_iter().map(|(word, mark)| format!("{mark} {word}")).collect();
        out += &wrapped("  ", &all.join(", "), style);
    }
    out
}

fn text(cell: &Cell, marks: bool) -> String {
    let words = match cell {
        Cell::Empty | Cell::Picture(_) => String::new(),
        Cell::Name(name) => crate::text::name(name),
        Cell::Words(words) | Cell::Aside(words) => words.clone(),
        Cell::Value(value) => kept(&value.to_string()),
        Cell::Verdict(words, _) => kept(words),
        Cell::Limits(all) if marks => all.iter().map(|limit| limit.mark()).collect(),
        Cell::Limits(all) => kept(&all.iter().map(|limit| limit.word()).collect::<Vec<_>>().join(", ")),
    };
    harmless_line(&words)
}

impl<'s> Grid<'s> {
    /// `marks`: of limits only a letter each.
    fn new(section: &'s Section, style: Style, marks: bool) -> Self {
        let titles = section.columns.iter().map(|column| harmless_line(&column.title)).collect();
        let row = |row: &Vec<Cell>| row.iter().map(|cell| text(cell, marks)).collect();
        let texts = std::iter::once(titles).chain(section.rows.iter().map(row)).collect();
        let places = section.rows.iter().flat_map(|row| row.iter().enumerate());
        let picture = places.clone().find_map(|(column, cell)| matches!(cell, Cell::Picture(_)).then_some(column));
        Self { section, style, texts, picture, shown: Vec::new(), name: 0, drawn: 0 }
    }

    fn limits(&self) -> impl Iterator<Item = &Condition> {
        let cells = self.section.rows.iter().flatten();
        cells.flat_map(|cell| if let Cell::Limits(all) = cell { all.as_slice() } else { &[] })
    }

    /// Columns in which something stands.
    fn used(&self) -> Vec<usize> {
        let stands =
            |column: usize| self.texts[1..].iter().any(|row| row.get(column).is_some_and(|text| !text.is_empty()));
        (0..self.section.columns.len())
            .filter(|column| *column == 0 || stands(*column) || self.picture == Some(*column))
            .collect()
    }

    fn widest(&self, column: usize) -> usize {
        let texts = self.texts.iter().filter_map(|row| row.get(column));
        if self.picture == Some(column) { self.drawn } else { texts.map(|text| text.width()).max().unwrap_or(0) }
    }

    /// Words that may go below do not make their column wide.
    fn flows(&self, column: usize) -> bool {
        let last = self.section.columns.len() - 1;
        let words = |row: &Vec<Cell>| matches!(row.get(column), Some(Cell::Words(_) | Cell::Aside(_)));
        column == last && self.section.rows.iter().any(words)
    }

    /// Chooses the columns that have room; how many had none.
    fn fit(&mut self, columns: &[usize], width: usize) -> usize {
        self.shown = columns.to_vec();
        let least = self.section.axis.as_ref().map_or(0, Axis::least);
        self.drawn = least;
        let names = self.texts.iter().filter_map(|row| row.first());
        let longest = names.flat_map(|name| name.split(' ')).map(UnicodeWidthStr::width).max().unwrap_or(0);
        let name = self.widest(0).min(if width == usize::MAX { width } else { NAME.max(longest) });
        let mut lost = 0;
        loop {
            let others = self.shown.iter().skip(1).filter(|column| !self.flows(**column));
            let others: usize = others.map(|column| self.widest(*column) + GAP).sum();
            self.name = name.min(width.saturating_sub(1 + others)).max(longest.min(name));
            let room = width.saturating_sub(1 + self.name + others);
            if 1 + self.name + others <= width {
                let words = self.shown.iter().filter(|column| self.flows(**column));
                let words: usize = words.map(|column| self.widest(*column).min(WORDS) + GAP).sum();
                self.drawn = least.saturating_add(room.saturating_sub(words)).min(PICTURE).max(least);
                return lost;
            }
            let Some(first) = self.first_to_leave() else { return lost };
            self.shown.remove(first);
            lost += 1;
        }
    }

    /// Place of the shown column that leaves; of equals the last. Where columns go on below the
    /// last one leaves.
    fn first_to_leave(&self) -> Option<usize> {
        let leaves = |place: usize| self.section.columns[self.shown[place]].leaves;
        if self.section.goes_on {
            return (self.shown.len() > 2).then(|| self.shown.len() - 1);
        }
        let places = (1..self.shown.len()).filter(|place| leaves(*place) > 0);
        places.reduce(|a, b| if leaves(b) >= leaves(a) { b } else { a })
    }

    /// A row of which nothing stands in these columns is left out.
    fn lines(&self, width: usize) -> String {
        let says = |row: &usize| {
            let texts = &self.texts[*row];
            texts.len() < 2 || self.shown.iter().any(|column| texts.get(*column).is_some_and(|text| !text.is_empty()))
        };
        (0..self.texts.len()).filter(says).map(|row| self.line(row, width)).collect()
    }

    /// A row, or the titles; a name that has no room goes on below, and so do words.
    fn line(&self, row: usize, width: usize) -> String {
        let cells = row.checked_sub(1).map_or(&[][..], |row| &self.section.rows[row]);
        if row > 0 && cells.len() < 2 {
            let title = self.texts[row].first().map_or(String::new(), |title| format!(" {title}"));
            return self.tinted(&title, None).replace(KEPT, " ") + "\n";
        }
        let texts = &self.texts[row];
        let mut names = folded(texts.first().map_or("", String::as_str), self.name).into_iter();
        let first = names.next().unwrap_or_default();
        let gap = " ".repeat(self.name.saturating_sub(first.width()));
        let first = if row == 0 { self.tinted(&first, None) } else { first };
        let (mut line, mut at) = (format!(" {first}{gap}"), 1 + self.name);
        let mut below = Vec::new();
        for &column in self.shown.iter().skip(1) {
            let text = self.text(row, column);
            if self.flows(column) {
                if at.saturating_add(GAP + text.width()) <= width {
                    line += &format!("{}{text}", " ".repeat(GAP));
                } else if matches!(cells.get(column), Some(Cell::Words(_))) {
                    below.push(text);
                }
                continue;
            }
            let room = self.widest(column).saturating_sub(text.width());
            let (left, right) = if self.to_the_right(column) { (room, 0) } else { (0, room) };
            let tinted = self.tinted(&text, row.checked_sub(1).and(cells.get(column)));
            line += &format!("{}{tinted}{}", " ".repeat(GAP + left), " ".repeat(right));
            at += GAP + self.widest(column);
        }
        if row == 0 && line.trim().is_empty() {
            return String::new();
        }
        let mut out = format!("{}\n", line.trim_end());
        names.for_each(|more| out += &format!("{}{more}\n", " ".repeat(FURTHER)));
        let hidden = self.picture.filter(|column| !self.shown.contains(column));
        if let Some((Cell::Picture(picture), axis)) =
            hidden.and_then(|column| cells.get(column)).zip(self.section.axis.as_ref())
        {
            below.extend(axis.below(picture, PICTURE));
        }
        below.iter().for_each(|text| out += &wrapped("    ", text, self.style));
        out.replace(KEPT, " ")
    }

    /// Some row has no room for words that do not go on below it.
    fn loses_words(&self, width: usize) -> bool {
        let others = self.shown.iter().skip(1).filter(|column| !self.flows(**column));
        let at: usize = 1 + self.name + others.map(|column| self.widest(*column) + GAP).sum::<usize>();
        let asides = self.section.rows.iter().flatten();
        let mut asides = asides.filter_map(|cell| if let Cell::Aside(words) = cell { Some(words) } else { None });
        asides.any(|words| at.saturating_add(GAP + words.width()) > width)
    }

    /// What stands in a cell.
    fn text(&self, row: usize, column: usize) -> String {
        let cell = row.checked_sub(1).and_then(|row| self.section.rows[row].get(column));
        match (&self.section.axis, cell) {
            (Some(axis), Some(Cell::Picture(picture))) => axis.drawn(picture, self.drawn),
            (Some(axis), None) if self.picture == Some(column) => axis.title(self.drawn),
            _ => self.texts[row].get(column).cloned().unwrap_or_default(),
        }
    }

    fn tinted(&self, text: &str, cell: Option<&Cell>) -> String {
        let escape = match cell {
            _ if !self.style.colour || text.trim().is_empty() => return text.to_owned(),
            None => "\x1b[1m",
            Some(Cell::Verdict(_, Tint::Red)) => "\x1b[31m",
            Some(Cell::Verdict(_, Tint::Green)) => "\x1b[32m",
            Some(Cell::Verdict(_, Tint::Yellow)) => "\x1b[33m",
            _ => return text.to_owned(),
        };
        format!("{escape}{text}\x1b[0m")
    }

    fn to_the_right(&self, column: usize) -> bool {
        let mut cells = self.section.rows.iter().filter_map(|row| row.get(column));
        let number = |cell: &Cell| matches!(cell, Cell::Value(value) if value.is_number());
        cells.clone().any(number) && cells.all(|cell| matches!(cell, Cell::Value(_) | Cell::Empty))
    }
}

/// As Markdown: all columns but pictures.
pub(super) fn markdown(section: &Section) -> String {
    let grid = Grid::new(section, Style::PLAIN, false);
    let shown: Vec<usize> = grid.used().into_iter().filter(|column| grid.picture != Some(*column)).collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let padded = |row: &Vec<String>, column: usize| {
        let text = row.get(column).map_or(String::new(), |text| text.replace(KEPT, " ").replace('|', "\\|"));
        let room = " ".repeat(grid.widest(column).saturating_sub(text.width()));
        if grid.to_the_right(column) { room + &text } else { text + &room }
    };
    let mut out = String::new();
    for (place, row) in grid.texts.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        out += &line(shown.iter().map(|column| padded(row, *column)).collect());
        if place == 0 {
            let rule = |column: &usize| {
                let most = grid.widest(*column).max(3);
                if grid.to_the_right(*column) { format!("{}:", "-".repeat(most - 1)) } else { "-".repeat(most) }
            };
            out += &line(shown.iter().map(rule).collect());
        }
    }
    out
}
