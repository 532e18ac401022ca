//! The ladder as text and as Markdown.

use super::Format;
use crate::columns::{COLUMNS, Column, Shown};
use crate::curves;
use crate::text::{Detail, Style, Tint, budget, drawn, markdown_table, name, tinted, wrapped};
use comfy_table::{Cell, CellAlignment, Table};
use switchcost_analysis::number::{counted, percent};
use switchcost_analysis::{Analysis, CLOCK, Row, slowest};
use switchcost_model::{EndedBy, Run, Utc, Verdict, harmless};

/// The columns that have room on a terminal.
fn columns() -> impl Iterator<Item = (&'static Column, &'static Shown)> {
    COLUMNS.iter().filter_map(|column| Some((column, column.shown.as_ref().filter(|shown| !shown.wide)?)))
}

/// Column titles.
fn header(analysis: &Analysis<'_>, tint: Option<Tint>) -> Vec<Cell> {
    let measure = common_measure(analysis);
    columns().map(|(column, shown)| aligned(column, shown.title(&measure), tint)).collect()
}

fn aligned(column: &Column, text: impl ToString, tint: Option<Tint>) -> Cell {
    let cell = tinted(text, tint);
    if column.is_number() { cell.set_alignment(CellAlignment::Right) } else { cell }
}

/// The measure that all figures have, or the switch's.
#[must_use]
pub fn common_measure(analysis: &Analysis<'_>) -> String {
    let mut measures = analysis.shown().filter(|row| row.summary.figures.is_some()).map(|row| row.measure());
    let first = measures.next().unwrap_or_else(|| SWITCH.to_owned());
    if measures.all(|measure| measure == first) { first } else { SWITCH.to_owned() }
}

/// Measure of most figures.
const SWITCH: &str = "ns/switch";

/// The ladder as a Markdown document.
pub struct Markdown;

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "md"
    }

    fn purpose(&self) -> &'static str {
        "Markdown"
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        Ok(ladder_markdown(analysis))
    }
}

/// Head, table, notes, warnings.
pub(crate) fn ladder_text(analysis: &Analysis<'_>, style: Style) -> String {
    let mut table = style.table();
    table.set_header(header(analysis, style.colour.then_some(Tint::Bold)));
    let with_notes = style.detail == Detail::Notes;
    fill(&mut table, analysis, style.colour, with_notes);
    let along = curves::text(analysis, style);
    let notes = if with_notes { notes(analysis, style) } else { String::new() };
    let (table, tail) = (drawn(&mut table), if with_notes { tail(analysis, style) } else { String::new() });
    style.sealed(&format!("{}\n{table}{notes}{along}{tail}", head(analysis, style)))
}

/// The same as Markdown.
pub(crate) fn ladder_markdown(analysis: &Analysis<'_>) -> String {
    let mut table = markdown_table();
    table.set_header(header(analysis, None));
    fill(&mut table, analysis, false, true);
    let style = Style::PLAIN;
    let along = curves::markdown(analysis);
    let (table, notes, tail) = (drawn(&mut table), notes(analysis, style), tail(analysis, style));
    style.sealed(&format!("{}\n{table}\n{notes}{along}{tail}", head(analysis, style)))
}

/// What run it is, how it ended, and how noisy it was.
#[must_use]
pub fn head(analysis: &Analysis<'_>, style: Style) -> String {
    let run = analysis.run;
    let fact = |name: &str| run.machine.stable.get(name).map_or_else(|| "unknown".to_owned(), |value| harmless(value));
    let started = Utc::new(run.started_unix_ns);
    let disturbed = run.invocations.iter().filter(|invocation| !invocation.disturbances.is_empty()).count();
    let starts = match (run.invocations.len(), disturbed) {
        (all, 0) => counted(all, "start"),
        (all, disturbed) => format!("{} ({disturbed} disturbed by other programs and repeated)", counted(all, "start")),
    };
    let name = format!("run {}", run.id);
    let clock = analysis.clock.map_or(String::new(), |clock| format!(" · CPU at {:.1} GHz", clock.kept));
    let lines = format!(
        "{name} · {} {} UTC · {} · kernel {} · {}{clock}\n{}, {}{}{}{}",
        started.date(),
        started.minute(),
        fact("cpu.model_name"),
        fact("kernel.release"),
        fact("hypervisor"),
        starts,
        ended(run),
        slowed(analysis),
        noise_floor(analysis),
        analysis.reference().map_or(String::new(), |row| format!("\nreference: {}", row.label)),
    );
    let lines: String = lines.lines().map(|line| wrapped("", line, style)).collect();
    lines.replacen(&name, &style.bold(&name), 1)
}

/// By how much the machine was slower than it can be, where a row's figure is moved by it.
pub(super) fn slowed(analysis: &Analysis<'_>) -> String {
    slowed_by(analysis).map_or(String::new(), |what| format!("\n{what}; --notes says what that moved"))
}

/// By how much the machine was slower than it can be, as a clause, if that moved a figure.
#[must_use]
pub fn slowed_by(analysis: &Analysis<'_>) -> Option<String> {
    let measured = || analysis.shown().filter(|row| row.median().is_some());
    let (ruler, times) = slowest(&analysis.speeds)?;
    if !measured().any(|row| row.slowed()) {
        return None;
    }
    if ruler == CLOCK {
        return Some(format!("CPU clock {} below peak", percent(1.0 - 1.0 / times)));
    }
    let shares = || measured().filter_map(|row| Some(row.undisturbed.as_ref()?.slowed));
    let share = shares().sum::<f64>() / shares().count() as f64;
    let share = percent(share);
    Some(format!("{share} of batches were slowed ({ruler} ×{times:.2})"))
}

/// What the run's own A/A pairs say.
fn noise_floor(analysis: &Analysis<'_>) -> String {
    let (noise, variants) = (&analysis.noise, &analysis.run.variants);
    let twins: Vec<&str> = variants.iter().filter(|v| v.is_twin()).map(|v| v.mechanism.as_str()).collect();
    let meaning = "measured twice in this run and differed by at most this";
    match (&noise.unstable, noise.floor(), twins.as_slice()) {
        (_, _, []) | (None, None, _) => String::new(),
        (Some(why), _, _) => format!("\nunstable: {why}; differences between rows mean nothing in this run"),
        (None, Some(floor), [twin]) => {
            format!("\nnoise floor {}: {twin} was {meaning}", percent(floor))
        }
        (None, Some(_), twins) => {
            let floors: Vec<String> =
                noise.families.iter().map(|(family, equals)| format!("{family} {}", percent(equals.reach))).collect();
            format!("\nnoise floor {}: {} were {meaning}", floors.join(", "), twins.join(", "))
        }
    }
}

pub(super) fn ended(run: &Run) -> String {
    let target = percent(run.precision_ppm as f64 / 1e6);
    let seconds = run
        .ended_unix_ns
        .map_or(String::new(), |end| format!(" after {:.1} s", (end - run.started_unix_ns) as f64 / 1e9));
    match run.ended_by {
        EndedBy::Precision => format!("ended{seconds}: intervals within ±{target}, or the row says why"),
        EndedBy::Rounds => format!("ended{seconds}: all rounds done"),
        EndedBy::Budget => format!("stopped{seconds} by --budget {}", budget(run.budget_ms)),
        EndedBy::Interrupt => format!("stopped by the user{seconds}"),
        EndedBy::Nothing => "ended: nothing could be measured".into(),
        EndedBy::Unfinished => "not finished".into(),
    }
}

/// What is said of a row under the table: its reason, then its notes.
fn remarks(row: &Row<'_>) -> Vec<String> {
    let reason = row.reason.as_ref().map(|reason| format!("{}: {reason}", row.verdict));
    reason.into_iter().chain(row.notes.iter().cloned()).collect()
}

/// The different remarks of all rows; a row's mark is the place of its own in this list.
fn footnotes(analysis: &Analysis<'_>) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for remarks in analysis.shown().map(remarks) {
        if !remarks.is_empty() && !all.contains(&remarks) {
            all.push(remarks);
        }
    }
    all
}

/// `marked`: the notes follow, and a mark leads to them.
fn fill(table: &mut Table, analysis: &Analysis<'_>, colour: bool, marked: bool) {
    let footnotes = if marked { footnotes(analysis) } else { Vec::new() };
    let common = common_measure(analysis);
    for row in analysis.shown() {
        let remarks = remarks(row);
        let footnote = footnotes.iter().position(|footnote| *footnote == remarks);
        table.add_row(columns().map(|(column, shown)| {
            let text = shown.cell(row, &common);
            match (column.name, footnote) {
                ("label", Some(place)) => aligned(column, format!("{} [{}]", name(&text), place + 1), None),
                ("label", None) => aligned(column, name(&text), None),
                ("verdict", _) if colour => aligned(column, text, Some(tint(row.verdict))),
                _ => aligned(column, text, None),
            }
        }));
    }
}

fn tint(verdict: Verdict) -> Tint {
    match verdict {
        Verdict::Verified => Tint::Green,
        Verdict::Contradicted | Verdict::Broken => Tint::Red,
        Verdict::Unobservable | Verdict::Unsupported | Verdict::Unmeasured => Tint::Yellow,
    }
}

/// Notes under the table; equal ones are said once.
fn notes(analysis: &Analysis<'_>, style: Style) -> String {
    let mut out = String::new();
    for (place, remarks) in footnotes(analysis).iter().enumerate() {
        for (i, remark) in remarks.iter().enumerate() {
            let mark = if i == 0 { format!("[{}]", place + 1) } else { String::new() };
            out.push_str(&wrapped(&format!("{mark:<5}"), remark, style));
        }
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

fn tail(analysis: &Analysis<'_>, style: Style) -> String {
    if analysis.warnings.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", style.bold("Warnings"));
    for warning in &analysis.warnings {
        out.push_str(&wrapped("  - ", warning, style));
    }
    out
}
