//! Text for terminals, and JSON.

use serde::Serialize;
use switchcost_model::{Machine, Utc, harmless, harmless_line, harmless_lines};
use unicode_width::UnicodeWidthStr;

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

    /// The gate of all text: beside line feeds, nothing that acts on a terminal leaves but the
    /// colours of this style.
    #[must_use]
    pub fn sealed(self, text: &str) -> String {
        let text = harmless_lines(text, self.colour);
        if self.ascii { ascii(&text) } else { text }
    }
}

/// Text for what shows nothing but ASCII. A character stays as wide as it was, so that columns stay
/// where they are.
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
        '▁' | '▂' => '_',
        '▃' | '▄' => '-',
        '▅' | '▆' => '=',
        '▇' => '#',
        '┊' | '│' | '▏' => '|',
        '█' => '#',
        _ => '?',
    };
    text.replace("± ", "+-").replace('±', "+-").replace("≤ ", "<=").replace("≥ ", ">=").chars().map(plain).collect()
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

/// So far in begins a further line at least, so that no text of others passes for one of ours.
pub(crate) const FURTHER: usize = 4;

/// A blank at which no line ends.
pub(crate) const KEPT: char = '\u{a0}';

/// Units of figures, beside which their numbers stay.
const UNITS: [&str; 8] = ["%", "ns", "µs", "ms", "s", "B", "KiB", "MiB"];

/// The words of a line. A number and its unit are one, with this between them, and so are the two
/// ends of an interval.
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

/// A row's name, of which no further line begins like a row: it is broken before words of ours
/// only.
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

/// Wraps text after a lead. Further lines are as far in, and further than any of ours begins, so
/// that no text of others passes for one.
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
    let mut column = lead.width();
    for (i, name) in names.into_iter().enumerate() {
        let name = harmless_line(name.as_ref());
        let length = name.width();
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

/// A name on lines of at most so many columns, broken at blanks.
pub(crate) fn folded(name: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in harmless_line(name).split(' ') {
        let Some(last) = lines.last_mut() else { break };
        if last.is_empty() {
            word.clone_into(last);
        } else if last.width() + 1 + word.width() <= most {
            *last = format!("{last} {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// The first of these names, as a line may hold.
pub(crate) fn some(names: &[String]) -> String {
    const SOME: usize = 3;
    if names.len() <= SOME + 1 {
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
    use super::{KEPT, Style, budget, wrapped};

    #[test]
    fn a_number_stays_beside_its_unit() {
        let text = "one switch of it takes 120 ns, another 1.2 µs – 3.4 µs, and a third 7 %";
        for width in 40..70 {
            let style = Style { width: Some(width), ..Style::PLAIN };
            let text = wrapped("", text, style);
            let broken = |line: &str| ["120", "1.2", "–", "3.4", "7"].iter().any(|end| line.ends_with(end));
            assert!(!text.lines().any(|line| broken(line.trim_end())) && !text.contains(KEPT), "{width}: {text}");
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
