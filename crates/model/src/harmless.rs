//! Text of others (probes, run files, programs, arguments) on its way to people.
//!
//! What is stored stays as it was said, and JSON escapes what it must. Terminals, Markdown, CSV and
//! benchmarks get the text as [`harmless`]: nothing in it moves a cursor, begins a line, turns the
//! direction of writing, or goes on for ever.

use crate::texts::change_within;
use crate::{Invocation, Run, Transcript, change_texts};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// Most characters of one piece of text of others.
pub const MOST_SHOWN: usize = 500;

/// Most characters of a sentence of the host, which may quote several pieces.
const MOST_IN_SENTENCE: usize = 4 * MOST_SHOWN;

/// Neither shown as itself nor harmless: control characters (C0, DEL, C1), marks and overrides of
/// the direction of writing, separators of lines and paragraphs.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

fn character(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => ' ',
        c if acts(c) => '\u{fffd}',
        c => c,
    }
}

fn cut(text: &str, most: usize) -> String {
    let mut kept: String = text.chars().take(most).map(character).collect();
    if text.chars().nth(most).is_some() {
        kept.push('…');
    }
    kept
}

/// A piece of text of others, fit for a place within a line: at most [`MOST_SHOWN`] characters,
/// none of which acts on a terminal.
#[must_use]
pub fn harmless(text: &str) -> String {
    cut(text, MOST_SHOWN)
}

/// A text of the host's own making within a line, of whatever length: what others put into it does
/// not act on a terminal.
#[must_use]
pub fn harmless_line(text: &str) -> String {
    text.chars().map(character).collect()
}

/// Whole lines on their way out. Line feeds stay, and so does the host's own colour where it is
/// wanted.
#[must_use]
pub fn harmless_lines(text: &str, colour: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if colour { colour_length(rest) } else { 0 };
        if length > 0 {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        out.push(if c == '\n' { c } else { character(c) });
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// Length of the sequence for colour or weight that the text begins with; 0: none.
fn colour_length(text: &str) -> usize {
    let Some(inner) = text.strip_prefix("\x1b[") else { return 0 };
    let digits = inner.bytes().take_while(|b| b.is_ascii_digit() || *b == b';').count();
    if inner.as_bytes().get(digits) == Some(&b'm') { digits + 3 } else { 0 }
}

impl Run {
    /// Makes every text of the run fit to be told to people. The result is for that only: it is not
    /// stored, and JSON is made of the run as it is.
    pub fn make_harmless(&mut self) {
        let run = self;
        fields([&mut run.id, &mut run.tool_version]);
        fields(&mut run.command);
        // Facts may be lists as long as the machine is large.
        for facts in [&mut run.machine.stable, &mut run.machine.drifting, &mut run.machine.personal] {
            *facts = std::mem::take(facts)
                .into_iter()
                .map(|(name, value)| (harmless(&name), harmless_line(&value)))
                .collect();
        }
        for finding in &mut run.machine.findings {
            fields([&mut finding.id, &mut finding.case]);
            texts(&mut finding.facts);
        }
        for variant in &mut run.variants {
            fields([&mut variant.probe, &mut variant.label]);
            texts(&mut variant.parameters);
        }
        run.not_run.values_mut().for_each(|reason| change_texts(reason, &mut sentence));
        run.invocations.iter_mut().for_each(make_invocation_told);
    }

    /// A copy whose texts are fit to be told to people; see [`Run::make_told`].
    #[must_use]
    pub fn harmless(&self) -> Self {
        let mut run = self.clone();
        run.make_harmless();
        run
    }
}

fn make_invocation_told(invocation: &mut Invocation) {
    let Transcript { hello, plan, samples, evidence, notes, end, fault, .. } = &mut invocation.transcript;
    tell(hello);
    tell(&mut invocation.seen);
    plan.iter_mut().for_each(|plan| texts(&mut plan.parameters));
    if let Some(evidence) = evidence {
        evidence.counts =
            std::mem::take(&mut evidence.counts).into_iter().map(|(name, n)| (harmless(&name), n)).collect();
        texts(&mut evidence.why);
        fields(evidence.kernel.iter_mut().map(|kernel| &mut kernel.source));
    }
    fields(samples.iter_mut().filter_map(|samples| samples.quantity.as_mut()));
    fields(notes);
    fields(end.iter_mut().flat_map(|end| end.code.iter_mut().chain(&mut end.detail)));
    fault.iter_mut().for_each(|fault| change_texts(fault, &mut sentence));
    invocation.disturbances.iter_mut().for_each(|other| change_texts(other, &mut sentence));
    invocation.judgement.reason.iter_mut().for_each(|reason| change_texts(reason, &mut sentence));
    invocation.log = harmless_lines(&invocation.log, false);
}

/// Texts and names of whatever form. Not of a map of texts by others' names: one that is called as
/// the tag of a form would be spared.
fn tell<T: Serialize + DeserializeOwned>(told: &mut T) {
    change_within(told, &mut |text| *text = harmless(text), &mut |name| *name = harmless(name));
}

fn fields<'a>(all: impl IntoIterator<Item = &'a mut String>) {
    all.into_iter().for_each(|text| *text = harmless(text));
}

fn sentence(text: &mut String) {
    *text = cut(text, MOST_IN_SENTENCE);
}

fn texts(map: &mut BTreeMap<String, String>) {
    *map = std::mem::take(map).into_iter().map(|(name, value)| (harmless(&name), harmless(&value))).collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_is_told() {
        for (raw, shown) in [
            ("Intel(R) Xeon® – 5 µs 🦀", "Intel(R) Xeon® – 5 µs 🦀"),
            ("\x1b[31mred\x07\0", "\u{fffd}[31mred\u{fffd}\u{fffd}"),
            ("a\r\nb\tc", "a  b c"),
            ("\u{7f}\u{9b}31m\u{85}", "\u{fffd}\u{fffd}31m\u{fffd}"),
            ("\u{202e}gnp.exe\u{2066}\u{200f}\u{2028}\u{2029}", "\u{fffd}gnp.exe\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(harmless(raw), shown, "{raw:?}");
        }
        let long = "é".repeat(MOST_SHOWN);
        assert_eq!(harmless(&long), long);
        assert_eq!(harmless(&format!("{long}x")), format!("{long}…"));
    }

    #[test]
    fn lines_and_own_colours_pass_and_nothing_else() {
        let text = "\x1b[1mrun\x1b[0m\n\x1b[2J\x1b]0;x\x07\x1b[38;5;1mred\u{202e}";
        assert_eq!(
            harmless_lines(text, true),
            "\x1b[1mrun\x1b[0m\n\u{fffd}[2J\u{fffd}]0;x\u{fffd}\x1b[38;5;1mred\u{fffd}"
        );
        assert_eq!(harmless_lines("\x1b[1mrun\n", false), "\u{fffd}[1mrun\n");
    }
}
