//! Comparisons as text, Markdown and JSON.

use crate::gate::Gate;
use crate::text::{Style, cell, listed, right, trimmed, wrapped};
use comfy_table::{Color, Table};
use schemars::JsonSchema;
use serde::Serialize;
use switchcost_analysis::number::{Quantity, factor, nanoseconds, percent};
use switchcost_analysis::{Comparison, Of, Outcome};
use switchcost_catalogue::Published;
use switchcost_model::harmless;

/// A row of a run, as a side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Side")]
pub struct ComparedSide {
    /// Id of its run.
    pub run: String,
    /// Its label within the run.
    pub label: String,
    /// Median of the invocations' medians: ns per unit, or bytes for footprints.
    pub median: f64,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// What one unit is.
    pub unit: String,
    /// Whether the figure is a time, in ns, or memory, in bytes.
    pub quantity: Quantity,
}

/// B against A.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRow {
    /// The reference.
    pub a: ComparedSide,
    /// What is judged.
    pub b: ComparedSide,
    /// Ratio, interval, verdict.
    pub comparison: Comparison,
}

/// All that one `compare` has to say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Compared {
    /// Comparisons in the order asked.
    pub rows: Vec<ComparedRow>,
    /// Rows that could not be compared: label and reason.
    pub skipped: Vec<(String, String)>,
    /// Rows that only one of two runs has.
    pub unmatched: Vec<Unmatched>,
    /// The reference, where only published figures stand beside it.
    pub references: Vec<ComparedSide>,
    /// Figures of others, shown and not judged.
    pub published: Vec<Published>,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// Why there is no verdict at all: runs that are unstable. Empty with `--force`.
    pub refused: Vec<String>,
    /// Threshold as a fraction.
    pub threshold: f64,
    /// What a gate makes of it.
    pub gate: Option<Gate>,
}

impl Compared {
    /// Judges a gate on it.
    pub fn set_gate(&mut self, limit: f64) {
        let rows: Vec<_> = self.rows.iter().map(|row| (row.b.label.as_str(), &row.comparison)).collect();
        let lost: usize = self.unmatched.iter().filter(|side| side.lost).map(|side| side.labels.len()).sum();
        self.gate = Some(Gate::new(limit, &rows, self.skipped.len() + lost, !self.refused.is_empty()));
    }
}

/// Rows that have no partner in the other run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Unmatched {
    /// The run or file as typed, which alone has them.
    pub only: String,
    /// They are rows of A, which B lost; otherwise B has them anew.
    pub lost: bool,
    /// Their labels.
    pub labels: Vec<String>,
}

/// A ratio as people say it: `×0.82, 18 % faster`.
#[must_use]
pub fn ratio_phrase(ratio: f64, quantity: Quantity) -> String {
    let (greater, smaller) = (quantity.greater(), quantity.smaller());
    let off = (ratio - 1.0).abs();
    match ratio {
        _ if off < 0.000_05 => "×1, no difference".to_owned(),
        ratio if ratio >= 2.0 => format!("×{}, {greater}", factor(ratio)),
        ratio if ratio < 0.1 => format!("×{} (1/{}), {smaller}", short(ratio), factor(1.0 / ratio)),
        ratio => format!("×{}, {} {}", short(ratio), percent(off), if ratio > 1.0 { greater } else { smaller }),
    }
}

/// Three decimals near 1, where the third one matters; two digits otherwise, however small.
pub(crate) fn short(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 2.0 => factor(ratio),
        ratio if (0.1..0.9).contains(&ratio) || ratio > 1.1 => format!("{ratio:.2}"),
        ratio if ratio >= 0.1 => format!("{ratio:.3}"),
        ratio if ratio > 0.0 => format!("{ratio:.*}", (1.0 - ratio.log10().floor()).min(12.0) as usize),
        _ => "0".to_owned(),
    }
}

/// A verdict in words.
pub(crate) fn verdict_phrase(outcome: Outcome, quantity: Quantity) -> String {
    match outcome {
        Outcome::Slower => quantity.greater().to_owned(),
        Outcome::Faster => quantity.smaller().to_owned(),
        Outcome::Same(within) => format!("same within {}", percent(within)),
        Outcome::CannotTell => "cannot tell".to_owned(),
    }
}

fn verdict_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Slower => "slower",
        Outcome::Faster => "faster",
        Outcome::Same(_) => "same",
        Outcome::CannotTell => "cannot_tell",
    }
}

/// 0.95 → `95 %`, 0.995 → `99.5 %`.
fn level(confidence: f64) -> String {
    let text = format!("{:.3}", confidence * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

fn cost(side: &ComparedSide) -> String {
    let unit = if side.quantity == Quantity::Memory { "B" } else { "" };
    if side.unit == "switch" {
        nanoseconds(side.median)
    } else {
        format!("{} {unit}/{}", nanoseconds(side.median), side.unit)
    }
}

/// For a terminal.
#[must_use]
pub fn compare_text(compared: &Compared, style: Style) -> String {
    let mut table = style.table();
    if style.colour {
        table.enforce_styling();
    }
    let body = if compared.rows.is_empty() { String::new() } else { filled(&mut table, compared, style.colour) };
    style.sealed(&format!("{}{body}{}", head(compared), tail(compared, style)))
}

/// As Markdown.
#[must_use]
pub fn compare_markdown(compared: &Compared) -> String {
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::ASCII_MARKDOWN);
    let body =
        if compared.rows.is_empty() { String::new() } else { format!("{}\n", filled(&mut table, compared, false)) };
    Style::PLAIN.sealed(&format!("{}\n{body}{}", head(compared), tail(compared, Style::PLAIN)))
}

/// Which runs; then one table says the rest.
fn head(compared: &Compared) -> String {
    let Some(first) = compared.rows.first() else { return String::new() };
    let sole = |side: fn(&ComparedRow) -> &ComparedSide| {
        compared.rows.iter().all(|row| side(row).run == side(first).run).then(|| side(first).run.as_str())
    };
    let runs = match (sole(|row| &row.a).map(harmless), sole(|row| &row.b).map(harmless)) {
        (Some(a), Some(b)) if a == b => format!("B against A, both of run {a}, paired by round\n"),
        (Some(a), Some(b)) => format!("B of run {b} against A of run {a}\n"),
        _ => "B against A\n".to_owned(),
    };
    uncompared(compared) + &runs
}

/// What is not compared stands first.
fn uncompared(compared: &Compared) -> String {
    let apart: usize = compared.unmatched.iter().map(|side| side.labels.len()).sum();
    if apart + compared.skipped.len() == 0 {
        return String::new();
    }
    let all = compared.rows.len() + compared.skipped.len() + apart;
    let mut text = format!("{} of {all} rows compared", compared.rows.len());
    for side in &compared.unmatched {
        text.push_str(&format!("; only `{}` has {}", side.only, listed(side.labels.clone())));
    }
    text + "\n"
}

fn filled(table: &mut Table, compared: &Compared, colour: bool) -> String {
    let several =
        compared.rows.iter().any(|row| row.a.run != compared.rows[0].a.run || row.b.run != compared.rows[0].b.run);
    let name = |side: &ComparedSide| if several { format!("{}:{}", side.run, side.label) } else { side.label.clone() };
    let interval = format!("{} interval", level(compared.rows[0].comparison.confidence));
    let unit = if compared.rows.iter().all(|row| row.a.quantity == Quantity::Memory) { "memory" } else { "ns" };
    let header = ["A", unit, "B", unit, "ratio", &interval, "noise floor", "smallest detectable", "verdict"];
    table.set_header(header.map(cell));
    let reasons = reasons(compared);
    for row in &compared.rows {
        let comparison = &row.comparison;
        let span =
            comparison.interval.map_or("–".to_owned(), |(low, high)| format!("{} – {}", short(low), short(high)));
        let mut verdict = if compared.refused.is_empty() {
            verdict_phrase(comparison.outcome, row.a.quantity)
        } else {
            "none".to_owned()
        };
        if let Some(place) = reasons.iter().position(|reason| *reason == comparison.reason) {
            verdict.push_str(&format!(" [{}]", place + 1));
        }
        let tint = match comparison.outcome {
            Outcome::Slower => Color::Red,
            Outcome::Faster => Color::Green,
            Outcome::Same(_) => Color::Reset,
            Outcome::CannotTell => Color::Yellow,
        };
        let verdict = cell(verdict);
        table.add_row([
            cell(name(&row.a)),
            right(cost(&row.a)),
            cell(name(&row.b)),
            right(cost(&row.b)),
            right(ratio_phrase(comparison.ratio, row.a.quantity)),
            right(span),
            right(percent(comparison.floor)),
            right(comparison.detectable.map_or("–".to_owned(), percent)),
            if colour { verdict.fg(tint) } else { verdict },
        ]);
    }
    trimmed(table)
}

/// The different reasons of verdicts; a verdict's mark is the place of its own in this list.
fn reasons(compared: &Compared) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for row in compared.rows.iter().filter(|_| compared.refused.is_empty()) {
        let reason = row.comparison.reason.as_str();
        if !reason.is_empty() && !all.contains(&reason) {
            all.push(reason);
        }
    }
    all
}

fn tail(compared: &Compared, style: Style) -> String {
    let mut out = String::new();
    for (i, reason) in reasons(compared).iter().enumerate() {
        out.push_str(&wrapped(&format!("[{}] ", i + 1), reason, style));
    }
    let mut skipped: Vec<(&str, Vec<String>)> = Vec::new();
    for (label, reason) in &compared.skipped {
        match skipped.iter_mut().find(|(known, _)| known == reason) {
            Some((_, labels)) => labels.push(label.clone()),
            None => skipped.push((reason, vec![label.clone()])),
        }
    }
    for (reason, labels) in skipped {
        out.push_str(&wrapped("  - ", &format!("not compared: {}: {reason}", listed(labels)), style));
    }
    for side in &compared.references {
        let span = side.interval.map_or(String::new(), |(low, high)| {
            format!(", 95 % interval {} – {}", nanoseconds(low), nanoseconds(high))
        });
        out.push_str(&wrapped(
            "",
            &format!(
                "A: {} of run {}: {} {} per {}{span}",
                side.label,
                side.run,
                nanoseconds(side.median),
                side.quantity.unit(),
                side.unit
            ),
            style,
        ));
    }
    if !compared.published.is_empty() {
        out.push_str(&format!("\n{}\n", style.bold("Published by others: other machine, other method, no verdict")));
        for value in &compared.published {
            out.push_str(&wrapped("  - ", &published_phrase(value), style));
        }
    }
    for note in &compared.notes {
        out.push_str(&wrapped("  - ", note, style));
    }
    for reason in &compared.refused {
        out.push_str(&wrapped(
            "",
            &format!("No verdict: {reason}. Measure again on a quieter machine, or insist by --force."),
            style,
        ));
    }
    if let Some(gate) = &compared.gate {
        out.push_str(&wrapped("", &gate.text(), style));
    }
    out
}

fn published_phrase(value: &Published) -> String {
    let caveat = value.caveat.as_ref().map_or(String::new(), |caveat| format!(" · but: {caveat}"));
    let year = value.year.map_or("year not stated".to_owned(), |year| year.to_string());
    let standing = if value.read { "" } else { " (as quoted elsewhere)" };
    format!(
        "{}: {} {} · {} · {} · {year} · {}{standing}{caveat}",
        value.name,
        published_figure(value),
        value.unit,
        value.what,
        value.machine,
        value.source
    )
}

/// A single figure, a range, or what it is below.
pub(crate) fn published_figure(value: &Published) -> String {
    match value.high {
        Some(high) => format!("{} – {}", nanoseconds(value.low), nanoseconds(high)),
        None if value.upper_bound => format!("below {}", nanoseconds(value.low)),
        None => nanoseconds(value.low),
    }
}

/// B against A.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "switchcost comparison", deny_unknown_fields)]
pub(crate) struct CompareDocument<'a> {
    /// Version of this form. New fields do not change it.
    format: u32,
    /// Smallest difference that matters, as a fraction.
    threshold: f64,
    comparisons: Vec<RowPart<'a>>,
    skipped: Vec<SkippedPart<'a>>,
    references: &'a [ComparedSide],
    published: Vec<PublishedPart>,
    notes: &'a [String],
    refused: &'a [String],
    unmatched: &'a [Unmatched],
    gate: Option<&'a Gate>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Comparison")]
struct RowPart<'a> {
    a: &'a ComparedSide,
    b: &'a ComparedSide,
    /// Cost of B ÷ cost of A.
    ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
    confidence: f64,
    /// The figures are those of the batches beside which the machine was not slowed.
    undisturbed: bool,
    paired: bool,
    /// Rounds (paired twice the same), or invocations of A and B.
    counts: (usize, usize),
    /// What the interval grants to the scatter between runs: half-width, as a fraction; 0 within one run.
    run_to_run: f64,
    noise_floor: f64,
    smallest_detectable: Option<f64>,
    /// slower, faster, same, cannot_tell; null where it is refused. Of memory slower means more and faster less.
    verdict: Option<&'static str>,
    /// With verdict same: within this fraction.
    within: Option<f64>,
    phrase: String,
    reason: &'a str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct SkippedPart<'a> {
    label: &'a str,
    reason: &'a str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct PublishedPart {
    name: String,
    what: String,
    low: f64,
    high: Option<f64>,
    /// The source says "below" the figure.
    upper_bound: bool,
    unit: String,
    machine: String,
    /// Of the publication, or of the newest software that it names.
    year: Option<u32>,
    source: String,
    /// False: known from a text that quotes the source.
    read: bool,
    /// What is known to be measured otherwise than by the mechanism, or to be wrong.
    caveat: Option<String>,
}

/// As one JSON object.
///
/// # Panics
/// Never: the types have only text keys and finite numbers.
#[must_use]
pub fn compare_json(compared: &Compared) -> String {
    crate::text::json(&compare_document(compared))
}

pub(crate) fn compare_document(compared: &Compared) -> CompareDocument<'_> {
    CompareDocument {
        format: 2,
        threshold: compared.threshold,
        comparisons: compared.rows.iter().map(|row| row_part(row, !compared.refused.is_empty())).collect(),
        skipped: compared.skipped.iter().map(|(label, reason)| SkippedPart { label, reason }).collect(),
        references: &compared.references,
        published: compared.published.iter().map(published_part).collect(),
        notes: &compared.notes,
        refused: &compared.refused,
        unmatched: &compared.unmatched,
        gate: compared.gate.as_ref(),
    }
}

/// JSON Schema of [`compare_json`]'s object.
#[must_use]
pub fn compare_schema() -> String {
    crate::text::json(&schemars::schema_for!(CompareDocument<'_>))
}

fn row_part(row: &ComparedRow, refused: bool) -> RowPart<'_> {
    let comparison = &row.comparison;
    RowPart {
        a: &row.a,
        b: &row.b,
        ratio: comparison.ratio,
        low: comparison.interval.map(|interval| interval.0),
        high: comparison.interval.map(|interval| interval.1),
        confidence: comparison.confidence,
        undisturbed: comparison.of == Of::Undisturbed,
        paired: comparison.paired,
        counts: comparison.counts,
        run_to_run: comparison.component.exp_m1(),
        noise_floor: comparison.floor,
        smallest_detectable: comparison.detectable,
        verdict: (!refused).then(|| verdict_word(comparison.outcome)),
        within: if let Outcome::Same(within) = comparison.outcome { Some(within) } else { None },
        phrase: ratio_phrase(comparison.ratio, row.a.quantity),
        reason: &comparison.reason,
    }
}

pub(crate) fn published_part(value: &Published) -> PublishedPart {
    PublishedPart {
        name: value.name.clone(),
        what: value.what.clone(),
        low: value.low,
        high: value.high,
        upper_bound: value.upper_bound,
        unit: value.unit.clone(),
        machine: value.machine.clone(),
        year: value.year,
        source: value.source.clone(),
        read: value.read,
        caveat: value.caveat.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_as_people_say_them() {
        let all: Vec<String> =
            [0.82, 1.1, 1.031, 0.995, 1.0, 27.31, 0.034].map(|ratio| ratio_phrase(ratio, Quantity::Time)).into();
        let said = [
            "×0.82, 18 % faster",
            "×1.100, 10 % slower",
            "×1.031, 3.1 % slower",
            "×0.995, 0.50 % faster",
            "×1, no difference",
            "×27.3, slower",
            "×0.034 (1/29.4), faster",
        ];
        assert_eq!(all, said);
        assert_eq!(
            [0.82, 27.31].map(|ratio| ratio_phrase(ratio, Quantity::Memory)),
            ["×0.82, 18 % smaller", "×27.3, larger"]
        );
        assert_eq!(verdict_phrase(Outcome::Slower, Quantity::Memory), "larger");
        assert_eq!([0.95, 0.995, 0.999_166_7].map(level), ["95 %", "99.5 %", "99.917 %"]);
    }
}
