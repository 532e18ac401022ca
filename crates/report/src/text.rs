//! Tables for terminals, and JSON.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};
use serde::Serialize;
use switchcost_analysis::number::factor;
use switchcost_model::{Machine, Utc, harmless, harmless_line, harmless_lines};

/// How a terminal wants its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Escape sequences for colour are understood and wanted.
    pub colour: bool,
    /// Columns of text and tables; None: do not wrap, as in Markdown.
    pub width: Option<u16>,
    /// How much of a run is told.
    pub detail: Detail,
    /// Nothing but ASCII is shown.
    pub ascii: bool,
}

/// How much of a run is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// The answer, and what changes how it is read.
    #[default]
    Brief,
    /// The columns that have room on a terminal, and all rows.
    Columns,
    /// And every note and warning.
    Notes,
}

impl Style {
    /// Neither colour nor wrapping: what other programs lay out.
    pub const PLAIN: Self = Self { colour: false, width: None, detail: Detail::Brief, ascii: false };

    /// Files and pipes.
    pub const PIPED: Self = Self { width: Some(100), ..Self::PLAIN };

    /// Bold, where that is wanted.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        let text = harmless_line(text);
        if self.colour { format!("\x1b[1m{text}\x1b[0m") } else { text }
    }

    /// Lines of text in bold.
    #[must_use]
    pub fn headline(self, text: &str) -> String {
        wrapped("", text, self).lines().map(|line| self.bold(line) + "\n").collect()
    }

    /// The gate of all text: beside line feeds, nothing that acts on a terminal leaves but the colours of this style.
    #[must_use]
    pub fn sealed(self, text: &str) -> String {
        let text = harmless_lines(text, self.colour);
        if self.ascii { ascii(&text) } else { text }
    }

    /// A table without lines: columns speak for themselves, and such text can be cut and pasted.
    #[must_use]
    pub fn table(self) -> Table {
        let mut table = Table::new();
        table.load_preset(comfy_table::presets::NOTHING);
        match self.width {
            Some(width) => {
                table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
            }
            None => {
                table.set_content_arrangement(ContentArrangement::Disabled);
            }
        }
        table
    }
}

/// Text for what shows nothing but ASCII. A character stays as wide as it was, so that columns stay where they are.
#[must_use]
pub fn ascii(text: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii() => c,
        'µ' | 'μ' => 'u',
        '×' => 'x',
        '÷' => '/',
        '–' | '—' | '−' | '·' | '─' | '━' | '╌' => '-',
        '→' => '>',
        '←' => '<',
        '≈' => '~',
        '…' | '░' => '.',
        '●' => '*',
        '┊' | '│' | '▏' => '|',
        '█' => '#',
        _ => '?',
    };
    text.replace("± ", "+-").replace('±', "+-").replace("≤ ", "<=").replace("≥ ", ">=").chars().map(plain).collect()
}

/// A table of Markdown.
#[must_use]
pub fn markdown_table() -> Table {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::ASCII_MARKDOWN);
    table
}

/// Plain data as JSON.
#[expect(
    clippy::expect_used,
    reason = "serde_json fails only on a map whose keys are not texts, and no document has one"
)]
#[must_use]
pub fn json(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("plain data") + "\n"
}

/// The same on one line.
#[expect(clippy::expect_used, reason = "as above")]
#[must_use]
pub fn json_line(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("plain data") + "\n"
}

/// A moment to the second, UTC.
#[must_use]
pub fn moment(unix_ns: i64) -> String {
    let moment = Utc::new(unix_ns);
    format!("{} {} UTC", moment.date(), moment.clock())
}

/// Processor, number of CPUs, hypervisor and kernel, as far as they are known.
#[must_use]
pub fn machine_words(machine: &Machine) -> String {
    let fact = |name: &str| machine.stable.get(name).map(|value| harmless(value));
    let cpus = fact("cpu.logical").map(|cpus| format!("{cpus} CPUs"));
    let kernel = fact("kernel.release").map(|release| format!("kernel {release}"));
    let words = [fact("cpu.model_name"), cpus, fact("hypervisor"), kernel];
    words.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A colour or weight of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tint {
    Bold,
    Red,
    Green,
    Yellow,
}

/// Stands for the end of a tint while a table is laid out.
const END: char = '\u{202e}';

/// What stands for each tint, and its escape sequence. The marks have no width, and no text of others holds them: `harmless_line` takes them out.
const MARKS: [(char, &str); 6] = [
    ('\u{202a}', "\x1b[1m"),
    ('\u{202b}', "\x1b[31m"),
    ('\u{202c}', "\x1b[32m"),
    ('\u{202d}', "\x1b[33m"),
    (END, "\x1b[0m"),
    (START, ""),
];

/// Begins each cell while a table is laid out: a line without it goes on with the row above.
const START: char = '\u{2066}';

/// So far in begins a further line at least, so that no text of others passes for one of ours.
const FURTHER: usize = 4;

/// Text in which each mark has become this.
fn unmarked(text: &str, of: impl Fn(&'static str) -> &'static str) -> String {
    MARKS.iter().fold(text.to_owned(), |text, (mark, escape)| text.replace(*mark, of(escape)))
}

/// A cell is one line, whatever others put into it.
pub fn cell(text: impl ToString) -> Cell {
    Cell::new(format!("{START}{}", words(&text.to_string(), KEPT).join(" ")))
}

/// The same with a tint: of each word, because a cell may be wrapped.
pub(crate) fn tinted(text: impl ToString, tint: Option<Tint>) -> Cell {
    let Some(tint) = tint else { return cell(text) };
    let (begin, _) = MARKS[tint as usize];
    let word = |word: String| if word.is_empty() { word } else { format!("{begin}{word}{END}") };
    let words: Vec<String> = words(&text.to_string(), KEPT).into_iter().map(word).collect();
    Cell::new(format!("{START}{}", words.join(" ")))
}

/// The same at the right end of its column.
pub fn right(text: impl ToString) -> Cell {
    cell(text).set_alignment(CellAlignment::Right)
}

/// The lines of a table, without blanks at their ends. Where its width is bounded no word is broken, and columns before the last one that have no room
/// follow below, beside the first.
pub fn drawn(table: &mut Table) -> String {
    let mut out = String::new();
    let mut left: Vec<usize> = (0..table.column_count()).collect();
    while !left.is_empty() {
        let shown = fit(table, &left, true);
        out += if out.is_empty() { "" } else { "\n" };
        out += &lines(table);
        left.retain(|column| !shown.contains(column));
        if !left.is_empty() {
            left.insert(0, 0);
        }
    }
    out
}

/// The same, but columns without room are only named.
pub fn drawn_once(table: &mut Table) -> String {
    let all: Vec<usize> = (0..table.column_count()).collect();
    let shown = fit(table, &all, false);
    let titles: Vec<String> = table.header().into_iter().flat_map(|row| row.cell_iter()).map(Cell::content).collect();
    let hidden = titles.iter().enumerate().filter(|(column, _)| !shown.contains(column));
    let hidden: Vec<String> = hidden.map(|(_, title)| unmarked(title, |_| "")).collect();
    let lost = if hidden.is_empty() { String::new() } else { format!("  no room for: {}\n", hidden.join(", ")) };
    lines(table) + &lost
}

fn lines(table: &Table) -> String {
    let lines = table.trim_fmt();
    let bounded = matches!(table.content_arrangement(), ContentArrangement::Dynamic);
    let line = |line: &str| {
        let line = if !bounded || line.contains(START) { line.to_owned() } else { further_in(line) };
        unmarked(&line, |escape| escape).replace(KEPT, " ").trim_end().to_owned() + "\n"
    };
    lines.lines().map(line).collect()
}

/// A line that goes on with the row above, further in than any of ours; the columns after its first stay where they are if they have room.
fn further_in(line: &str) -> String {
    let text = line.trim_start();
    let by = FURTHER.saturating_sub(line.len() - text.len());
    let gap = " ".repeat(by + 2);
    let text = if by > 0 { text.replacen(&gap, "  ", 1) } else { text.to_owned() };
    " ".repeat((line.len() - line.trim_start().len()).max(FURTHER)) + &text
}

/// A blank at which no line ends.
const KEPT: char = '\u{a0}';

/// Units of figures, beside which their numbers stay.
const UNITS: [&str; 8] = ["%", "ns", "µs", "ms", "s", "B", "KiB", "MiB"];

/// The words of a line. A number and its unit are one, with this between them, and so are the two ends of an interval.
fn words(text: &str, between: char) -> Vec<String> {
    let unit = |word: &str| word.split(|c| "/,;.:)".contains(c)).next().is_some_and(|word| UNITS.contains(&word));
    let digit = |c: char| c.is_ascii_digit();
    let dash = |last: &str, word: &str| last.contains(digit) && (word == "–" || last.ends_with('–'));
    let mut all: Vec<String> = Vec::new();
    for word in harmless_line(text).split(' ') {
        match all.last_mut().filter(|last| (last.ends_with(digit) && unit(word)) || dash(last, word)) {
            Some(last) => *last += &format!("{between}{word}"),
            None => all.push(word.to_owned()),
        }
    }
    all
}

/// What stands on one line of a cell: a date, a verdict.
pub fn kept(text: &str) -> String {
    text.replace(' ', &KEPT.to_string())
}

/// A row's name, of which no further line begins like a row: it is broken before words of ours only.
pub fn name(label: &str) -> String {
    let ours = |word: &str| {
        let key = word.split('=').next().unwrap_or_default();
        key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let label = harmless_line(label);
    let mut words = label.split(' ');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| format!("{name}{}{word}", if ours(word) { ' ' } else { KEPT }))
}

/// Of these columns those that have room with their words whole: the first and the last at least. The others are hidden. `on`: they follow, so that
/// names stay on one line where two figures and the last column still fit.
fn fit(table: &mut Table, columns: &[usize], on: bool) -> Vec<usize> {
    let Some(room) = table.width().filter(|_| matches!(table.content_arrangement(), ContentArrangement::Dynamic))
    else {
        return columns.to_vec();
    };
    let longest = |text: String| {
        let text = unmarked(&text, |_| "");
        let indent = text.len() - text.trim_start().len();
        text.split(' ').map(|word| word.chars().count()).max().unwrap_or(0) + indent
    };
    let mut widths: Vec<u16> = (0..table.column_count())
        .map(|column| {
            let cells = table.column_cells_with_header_iter(column).flatten();
            let padding = table.column(column).map_or(0, |column| usize::from(column.padding_width()));
            (cells.map(|cell| longest(cell.content())).max().unwrap_or(0) + padding) as u16
        })
        .collect();
    let with_room = |widths: &[u16]| {
        let mut shown = columns.to_vec();
        while shown.len() > 3 && shown.iter().map(|&column| widths[column]).sum::<u16>() > room {
            shown.remove(shown.len() - 2);
        }
        shown
    };
    let mut shown = with_room(&widths);
    if on && shown.len() < columns.len() {
        let names = table.column_cells_with_header_iter(0).flatten();
        let name = names.map(|cell| unmarked(&cell.content(), |_| "").chars().count()).max().unwrap_or(0) as u16 + 2;
        let whole: Vec<u16> = std::iter::once(name).chain(widths.iter().skip(1).copied()).collect();
        let beside = with_room(&whole);
        if beside.len() > 3 {
            (shown, widths) = (beside, whole);
        }
    }
    for (index, width) in widths.into_iter().enumerate() {
        let Some(column) = table.column_mut(index) else { continue };
        column.set_constraint(match shown.contains(&index) {
            true => ColumnConstraint::LowerBoundary(Width::Fixed(width)),
            false => ColumnConstraint::Hidden,
        });
    }
    shown
}

/// Wraps text after a lead. Further lines are as far in, and further than any of ours begins, so that no text of others passes for one.
#[must_use]
pub fn wrapped(lead: &str, text: &str, style: Style) -> String {
    laid(lead, lead.chars().count().max(FURTHER), words(text, ' ').iter().filter(|word| !word.is_empty()), style)
}

/// The same of names with a blank between them, of which none is broken.
pub fn wrapped_names<N: AsRef<str>>(lead: &str, names: impl IntoIterator<Item = N>, style: Style) -> String {
    laid(lead, lead.chars().count(), names, style)
}

fn laid<N: AsRef<str>>(lead: &str, indent: usize, names: impl IntoIterator<Item = N>, style: Style) -> String {
    let width = style.width.map_or(usize::MAX, usize::from).max(40);
    let mut out = lead.to_owned();
    let mut column = lead.chars().count();
    for (i, name) in names.into_iter().enumerate() {
        let name = harmless_line(name.as_ref());
        let length = name.chars().count();
        if i > 0 && column + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(&name);
        column += length;
    }
    out.push('\n');
    out
}

/// Three decimals near 1, where the third one matters; two digits otherwise, however small.
#[must_use]
pub fn ratio(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 2.0 => factor(ratio),
        ratio if (0.1..0.9).contains(&ratio) || ratio > 1.1 => format!("{ratio:.2}"),
        ratio if ratio >= 0.1 => format!("{ratio:.3}"),
        ratio if ratio > 0.0 => format!("{ratio:.*}", (1.0 - ratio.log10().floor()).min(12.0) as usize),
        _ => "0".to_owned(),
    }
}

/// The first of these names, as a line may hold; all that one sentence lists if lines have no end.
pub(crate) fn some(names: &[String], style: Style) -> String {
    const SOME: usize = 3;
    if style.width.is_none() || names.len() <= SOME + 1 {
        return listed(names.to_vec());
    }
    format!("{}, {} more", listed(names[..SOME].to_vec()), names.len() - SOME)
}

/// Most names listed in one sentence.
const LISTED: usize = 8;

/// Names in one sentence.
#[must_use]
pub fn listed(names: Vec<String>) -> String {
    let more = names.len().saturating_sub(LISTED);
    let mut text: Vec<String> = names.into_iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    if more > 0 {
        text.push(format!("{more} more"));
    }
    if text.is_empty() { "none".to_owned() } else { text.join(", ") }
}

/// A budget as `--budget` takes it: whole seconds, or milliseconds where it has a part of one.
pub(crate) fn budget(ms: u64) -> String {
    match ms {
        ms if ms.is_multiple_of(1000) => format!("{}s", ms / 1000),
        ms => format!("{ms}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, Style, budget, cell, drawn, wrapped};

    #[test]
    fn a_number_stays_beside_its_unit() {
        let text = "one switch of it takes 120 ns, another 1.2 µs – 3.4 µs, and a third 7 %";
        for width in 40..70 {
            let style = Style { width: Some(width), ..Style::PLAIN };
            let mut table = style.table();
            table.add_row([text, text].map(cell));
            for text in [wrapped("", text, style), drawn(&mut table)] {
                let broken = |line: &str| ["120", "1.2", "–", "3.4", "7"].iter().any(|end| line.ends_with(end));
                assert!(!text.lines().any(|line| broken(line.trim_end())) && !text.contains(KEPT), "{width}: {text}");
            }
        }
    }

    #[test]
    fn a_budget_that_is_advised_is_one_that_is_taken() {
        for (ms, advice) in
            [(200, "200ms"), (800, "800ms"), (1000, "1s"), (1400, "1400ms"), (3000, "3s"), (60_000, "60s")]
        {
            assert_eq!(budget(ms), advice);
        }
    }
}
