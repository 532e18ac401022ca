//! `crosscheck`: figures of other tools beside ours.

use schemars::JsonSchema;
use serde::Serialize;
use switchcost_analysis::number::counted;
use switchcost_analysis::{Condition, Quantity};
use switchcost_model::Value;
use switchcost_report::answer::{Cell, Section};
use switchcost_report::text::{Style, json, wrapped};

/// Another tool.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct CrosscheckRow {
    /// Its id.
    pub id: String,
    /// What it does.
    pub title: String,
    /// The command that was run, or would be.
    pub command: String,
    /// Unit of its figure, as it means it.
    pub unit: String,
    /// How the unit becomes ns per switch, in words.
    pub conversion: String,
    /// Ours that does the same: its label.
    pub ours: String,
    /// Figures; null where there are none.
    pub measured: Option<CrosscheckFigures>,
    /// Why there are none; null where there are.
    pub missing: Option<String>,
    /// Why the two differ, where it is known.
    pub reason: String,
}

/// Figures of a tool and ours.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct CrosscheckFigures {
    /// What the tool printed, in its own unit: median over rounds.
    pub printed: f64,
    /// The same as ns per switch.
    pub theirs_ns: f64,
    /// Ours, ns per switch.
    pub ours_ns: f64,
    /// Theirs ÷ ours, paired by round.
    pub ratio: f64,
    /// 95 % interval of the ratio; null with fewer than 6 rounds.
    pub interval: Option<(f64, f64)>,
    /// Rounds that hold both.
    pub rounds: usize,
    /// Of these, rounds in which other programs disturbed ours; nobody knows of the tool's.
    pub disturbed: usize,
    /// Of latencies, which stand here counted by the tool's rule: ours of all intended times, ns;
    /// null otherwise.
    pub whole_ns: Option<f64>,
}

/// Other tools beside ours.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "switchcost crosscheck", deny_unknown_fields)]
struct Document<'a> {
    /// Version of this form. New fields do not change it.
    format: u32,
    rows: &'a [CrosscheckRow],
}

/// `crosscheck --format json`.
///
/// # Panics
/// Never: the types have only text keys and finite numbers.
#[must_use]
pub fn crosscheck_json(rows: &[CrosscheckRow]) -> String {
    json(&Document { format: 1, rows })
}

/// JSON Schema of [`crosscheck_json`]'s object.
#[must_use]
pub fn crosscheck_schema() -> String {
    json(&schemars::schema_for!(Document<'_>))
}

/// `crosscheck` for a terminal.
#[must_use]
pub fn crosscheck_text(rows: &[CrosscheckRow], style: Style) -> String {
    let titles = [
        ("tool", 0),
        ("prints", 2),
        ("unit", 2),
        ("theirs", 0),
        ("ours is", 1),
        ("ours", 0),
        ("theirs ÷ ours", 0),
        ("95 % interval", 3),
        ("", 0),
    ];
    let row = |row: &CrosscheckRow| {
        let mut cells = vec![Cell::Name(row.id.clone())];
        let Some(figures) = &row.measured else {
            cells.extend([Cell::Value(Value::Unknown), row.unit.as_str().into()]);
            return [cells, vec![Cell::Empty; 6]].concat();
        };
        let time = |ns| Cell::Value(Value::Amount(ns, Quantity::TIME));
        let span = figures.interval.map(|(low, high)| Value::between(Value::Ratio(low), Value::Ratio(high)));
        cells.extend([Cell::Value(Value::Bare(figures.printed)), row.unit.as_str().into(), time(figures.theirs_ns)]);
        cells.extend([row.ours.as_str().into(), time(figures.ours_ns), Cell::Value(Value::Ratio(figures.ratio))]);
        cells.push(Cell::Value(span.unwrap_or(Value::Unknown)));
        let (starts, of) = (figures.disturbed, figures.rounds);
        let limits = (starts > 0).then(|| Cell::Limits(vec![Condition::Disturbed { starts, of }]));
        cells.push(limits.unwrap_or(Cell::Empty));
        cells
    };
    let mut out = limits(rows, style);
    out += &Section::new(titles).with(rows.iter().map(row)).terminal(style);
    out.push('\n');
    for row in rows {
        let outcome = match &row.missing {
            Some(missing) => format!("{}: {missing}", row.id),
            None => format!("{}: {}; {}. {}{}", row.id, row.title, row.conversion, sentence(&row.reason), omitted(row)),
        };
        out.push_str(&wrapped("  - ", &outcome, style));
    }
    style.sealed(&out)
}

/// What limits the whole answer, as sentences above it.
fn limits(rows: &[CrosscheckRow], style: Style) -> String {
    let measured = || rows.iter().filter_map(|row| row.measured.as_ref());
    let count = measured().filter(|figures| figures.disturbed > 0).count();
    if count == 0 {
        return String::new();
    }
    let text = format!(
        "Other programs disturbed {count} of {}: no ratio there says which of the two is right. Measure again when nothing else runs.",
        counted(measured().count(), "row")
    );
    wrapped("", &text, style)
}

/// What a tool that skips missed times leaves out.
fn omitted(row: &CrosscheckRow) -> String {
    let of = |figures: &CrosscheckFigures| Some((figures.ours_ns, figures.whole_ns?));
    row.measured.as_ref().and_then(of).map_or(String::new(), |(by_its_rule, whole)| {
        let amount = |ns: f64| Quantity::TIME.amount(ns);
        format!(
            " Ours is counted by its rule; with the times that it skips it is {} instead of {}.",
            amount(whole),
            amount(by_its_rule)
        )
    })
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str() + ".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_model::harmless_lines;

    #[test]
    fn a_ratio_of_disturbed_starts_says_so() {
        let row = |disturbed| CrosscheckRow {
            id: "tool".to_owned(),
            title: "A tool".to_owned(),
            command: "tool".to_owned(),
            unit: "us".to_owned(),
            conversion: "figure × 1000 ns".to_owned(),
            ours: "thread/pipe".to_owned(),
            measured: Some(CrosscheckFigures {
                printed: 2.5,
                theirs_ns: 1250.0,
                ours_ns: 1000.0,
                ratio: 1.25,
                interval: None,
                rounds: 6,
                disturbed,
                whole_ns: None,
            }),
            missing: None,
            reason: "it is one".to_owned(),
        };
        let said = crosscheck_text(&[row(0), row(6)], Style::PLAIN);
        assert!(said.starts_with("Other programs disturbed 1 of 2 rows: no ratio there"), "{said}");
        let marked: Vec<bool> = said
            .lines()
            .filter(|line| line.starts_with(" tool "))
            .skip(1)
            .map(|line| line.ends_with("  disturbed"))
            .collect();
        assert_eq!(marked, [false, true], "{said}");
        assert!(!crosscheck_text(&[row(0)], Style::PLAIN).contains("isturbed"));
    }

    #[test]
    fn what_tools_say_does_nothing_to_a_terminal() {
        let text = || "x\nFORGED \x1b[2J\u{202e}\u{9b}31m\r".to_owned();
        let row = CrosscheckRow {
            id: text(),
            title: text(),
            command: text(),
            unit: text(),
            conversion: text(),
            ours: text(),
            measured: None,
            missing: Some(text()),
            reason: text(),
        };
        let out = crosscheck_text(&[row.clone(), CrosscheckRow { missing: None, ..row }], Style::PLAIN);
        assert_eq!(out, harmless_lines(&out, false));
        assert!(!out.lines().any(|line| line.starts_with("FORGED")), "{out}");
    }
}
