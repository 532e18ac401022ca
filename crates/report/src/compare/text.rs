//! Comparisons as people read them: the answer, then what it rests on.

use super::{Compared, ComparedRow, ComparedSide, load, words};
use crate::text::{self, Style, Tint, cell, drawn, listed, markdown_table, right, tinted, wrapped};
use comfy_table::Table;
use std::collections::BTreeSet;
use switchcost_analysis::number::{exactly, factor, nanoseconds, percent};
use switchcost_analysis::{Grown, Outcome, Quantity};
use switchcost_catalogue::Published;

/// A ratio as people say it: `18 % faster`, `4.7 times slower`.
#[must_use]
pub fn ratio_phrase(ratio: f64, quantity: Quantity) -> String {
    let off = (ratio - 1.0).abs();
    match ratio {
        _ if off < 0.000_05 => "no difference".to_owned(),
        ratio if ratio >= 2.0 => format!("{} times {}", factor(ratio), quantity.greater),
        ratio if ratio <= 0.5 => format!("{} times {}", factor(1.0 / ratio), quantity.smaller),
        ratio => format!("{} {}", percent(off), if ratio > 1.0 { &quantity.greater } else { &quantity.smaller }),
    }
}

/// A cost with its unit: of a switch nothing more is said. A row with modes has a cost for each.
fn cost(side: &ComparedSide) -> String {
    let figures = side.modes.iter().map(|mode| mode.0).chain(side.median);
    let amount = figures.map(|figure| side.quantity.amount(figure)).collect::<Vec<_>>().join(" | ");
    let plain = side.unit == side.experiment.unit;
    if plain { amount } else { format!("{amount} per {}", side.unit) }
}

/// For a terminal.
#[must_use]
pub fn compare_text(compared: &Compared, style: Style) -> String {
    written(compared, style, &|| style.table(), "")
}

/// As Markdown.
#[must_use]
pub fn compare_markdown(compared: &Compared) -> String {
    written(compared, Style::PLAIN, &markdown_table, "\n")
}

/// `blank`: a table of this form; `after`: what ends it.
fn written(compared: &Compared, style: Style, blank: &dyn Fn() -> Table, after: &str) -> String {
    let body = if compared.rows.is_empty() { String::new() } else { filled(blank(), compared, style.colour) + after };
    style.sealed(&format!("{}{after}{body}{}", head(compared, style, blank), tail(compared, style)))
}

/// The answer and the runs; then one table says the rest.
fn head(compared: &Compared, style: Style, blank: &dyn Fn() -> Table) -> String {
    let mut out = match compared.cautions.as_slice() {
        [] => String::new(),
        cautions => wrapped("", &cautions.join(" "), style),
    };
    for reason in &compared.refused {
        let cure = "measure again on a quieter machine, or insist by --force";
        out.push_str(&wrapped("", &format!("No verdict: {reason}; {cure}"), style));
    }
    if let Some(gate) = &compared.gate {
        out.push_str(&wrapped("", &words::gate(gate), style));
    }
    out.push_str(&answer(compared, style, blank));
    for side in &compared.unmatched {
        let text = format!("only `{}` has {}", side.only, listed(side.labels.clone()));
        out.push_str(&wrapped("  ", &text, style));
    }
    match compared.runs.as_slice() {
        [] => {}
        [only] => {
            out.push_str(&wrapped("  ", &format!("run {} · {} · {}", only.id, only.started, only.machine), style))
        }
        [a, b] if compared.names().is_empty() => {
            let machine = if a.machine == b.machine { "same machine and kernel" } else { &b.machine };
            out.push_str(&wrapped("  A  ", &format!("run {} · {} · {}", a.id, a.started, a.machine), style));
            out.push_str(&wrapped("  B  ", &format!("run {} · {} · {machine}", b.id, b.started), style));
        }
        several => {
            let ids: Vec<&str> = several.iter().map(|run| run.id.as_str()).collect();
            out.push_str(&wrapped("  ", &format!("runs {}", ids.join(", ")), style));
        }
    }
    if out.is_empty() { out } else { out + "\n" }
}

/// One sentence: of one pair what differs, of many how many do; of names one for each that stands beside the first.
fn answer(compared: &Compared, style: Style, blank: &dyn Fn() -> Table) -> String {
    let mut out = compared.loaded.as_ref().map_or_else(String::new, |loaded| load::answer(loaded, blank(), style));
    let Some(first) = compared.rows.first().filter(|_| compared.refused.is_empty()) else { return out };
    let clauses = |rows: &mut dyn Iterator<Item = &ComparedRow>| rows.map(clause).collect::<Vec<_>>().join("; ");
    let mut sentences: Vec<String> = Vec::new();
    if let Some((a, others)) = compared.names().split_first() {
        for b in others {
            let of_b = |row: &&ComparedRow| row.asked.as_ref().is_some_and(|asked| asked.1 == **b);
            sentences.push(format!("{b} against {a}: {}", clauses(&mut compared.rows.iter().filter(of_b))));
        }
    } else if compared.rows.len() == 1 {
        let (a, b) = (&first.a.label, &first.b.label);
        let names = if a == b { "B against A".to_owned() } else { format!("{b} against {a}") };
        sentences.push(format!("{names}: {}", clause(first)));
    } else {
        let count = |of: fn(&Outcome) -> bool| compared.rows.iter().filter(|row| of(&row.comparison.outcome)).count();
        sentences.push(format!(
            "B against A: {} slower · {} faster · {} the same · {} cannot be told",
            count(|outcome| *outcome == Outcome::Slower),
            count(|outcome| *outcome == Outcome::Faster),
            count(|outcome| matches!(outcome, Outcome::Same(_))),
            count(|outcome| *outcome == Outcome::CannotTell),
        ));
    }
    let apart: usize = compared.unmatched.iter().map(|side| side.labels.len()).sum::<usize>() + compared.skipped.len();
    if let Some(last) = sentences.last_mut().filter(|_| apart > 0) {
        last.push_str(&format!(" · {apart} not compared"));
    }
    sentences.iter().for_each(|sentence| out.push_str(&wrapped("", &style.bold(sentence), style)));
    out
}

/// `a switch is 4.7 times slower`.
fn clause(row: &ComparedRow) -> String {
    let experiment = row.a.experiment;
    let what = if row.a.unit == experiment.unit { &experiment.clause } else { &row.a.unit };
    match row.comparison.outcome {
        Outcome::Same(within) => format!("{what} is {}", same(within)),
        Outcome::CannotTell => format!("{what}: cannot be told"),
        _ => format!("{what} is {}", ratio_phrase(row.comparison.ratio, row.a.quantity)),
    }
}

/// Counts are the same or not.
fn same(within: f64) -> String {
    if within > 0.0 { format!("the same within {}", percent(within)) } else { "exactly the same".to_owned() }
}

fn filled(mut table: Table, compared: &Compared, colour: bool) -> String {
    let several = compared.runs.len() > 2;
    let names = compared.names();
    let name = |side: &ComparedSide, asked: &Option<(String, String)>| match asked {
        Some((_, b)) if names.len() > 2 => format!("{}, {b}", side.experiment),
        Some(_) => side.experiment.to_string(),
        None if several => format!("{}:{}", side.run, side.label),
        None => side.label.clone(),
    };
    let alike = compared.rows.iter().all(|row| name(&row.a, &row.asked) == name(&row.b, &row.asked));
    let last = [right("B ÷ A"), right("interval"), cell("B is")];
    let names = match names.as_slice() {
        [a, b] => vec![cell(""), right(a), right(b)],
        [a, ..] => vec![cell(""), right(a), right("B")],
        [] if alike => vec![cell(""), right("A"), right("B")],
        [] => ["A", "", "B", ""].map(cell).to_vec(),
    };
    table.set_header(names.into_iter().chain(last));
    let reasons = reasons(compared);
    for row in &compared.rows {
        let comparison = &row.comparison;
        let span = comparison
            .interval
            .map_or("–".to_owned(), |(low, high)| format!("{} – {}", text::ratio(low), text::ratio(high)));
        let ratio = row.ratio().map_or("–".to_owned(), |ratio| format!("×{}", text::ratio(ratio)));
        let mut change = if compared.refused.is_empty() { change(row) } else { "no verdict".to_owned() };
        if let Some(place) = reasons.iter().position(|reason| *reason == row.reason()) {
            change.push_str(&format!(" [{}]", place + 1));
        }
        let tint = match comparison.outcome {
            Outcome::Slower => Some(Tint::Red),
            Outcome::Faster => Some(Tint::Green),
            Outcome::Same(_) => None,
            Outcome::CannotTell => Some(Tint::Yellow),
        };
        let change = tinted(change, tint.filter(|_| colour));
        let mut cells = vec![cell(name(&row.a, &row.asked)), right(cost(&row.a))];
        cells.extend((!alike).then(|| cell(name(&row.b, &row.asked))));
        cells.extend([right(cost(&row.b)), right(ratio), right(span), change]);
        table.add_row(cells);
    }
    drawn(&mut table)
}

/// Whose figures stand for a mechanism that has none of its own.
fn lent(compared: &Compared, style: Style) -> String {
    let mut loans: Vec<(String, Vec<String>)> = Vec::new();
    let sides = compared.rows.iter().filter_map(|row| Some((row, row.asked.as_ref()?)));
    for (side, asked) in sides.flat_map(|(row, (a, b))| [(&row.a, a), (&row.b, b)]) {
        let lender = side.label.split([' ', '@']).next().unwrap_or_default();
        if lender == asked {
            continue;
        }
        let loan = format!("of {lender}, which stands for {asked}");
        let what = side.experiment.to_string();
        match loans.iter_mut().find(|(known, _)| *known == loan) {
            Some((_, experiments)) if experiments.contains(&what) => {}
            Some((_, experiments)) => experiments.push(what),
            None => loans.push((loan, vec![what])),
        }
    }
    let lines = loans.iter().map(|(loan, what)| wrapped("  ", &format!("{} {loan}", what.join(" and ")), style));
    lines.collect()
}

/// What the verdict says of B: `17 % less`, `~ (could see 18 %)`.
fn change(row: &ComparedRow) -> String {
    let comparison = &row.comparison;
    match (comparison.outcome, comparison.detectable) {
        (Outcome::Slower | Outcome::Faster, _) => row.phrase(),
        (Outcome::Same(within), _) => same(within).trim_start_matches("the ").to_owned(),
        (Outcome::CannotTell, Some(detectable)) => format!("~ (could see {})", percent(detectable)),
        (Outcome::CannotTell, None) => "~".to_owned(),
    }
}

/// The different reasons of verdicts; a verdict's mark is the place of its own in this list.
fn reasons(compared: &Compared) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for row in compared.rows.iter().filter(|_| compared.refused.is_empty()) {
        let reason = row.reason();
        if !reason.is_empty() && !all.contains(&reason) {
            all.push(reason);
        }
    }
    all
}

fn tail(compared: &Compared, style: Style) -> String {
    let mut out = String::new();
    for (i, reason) in reasons(compared).iter().enumerate() {
        out.push_str(&wrapped(&format!("  [{}] ", i + 1), reason, style));
    }
    for row in compared.rows.iter().filter(|row| !row.grown.is_empty()) {
        let one = |grown: &Grown| {
            format!("{} {} → {} ({:+.2})", grown.function, exactly(grown.a), exactly(grown.b), grown.b - grown.a)
        };
        let functions = row.grown.iter().map(one).collect::<Vec<_>>().join(", ");
        out.push_str(&wrapped("  ", &format!("{}: by function: {functions}", row.b.label), style));
    }
    let mut skipped: Vec<(&str, Vec<String>)> = Vec::new();
    for (label, reason) in &compared.skipped {
        match skipped.iter_mut().find(|(known, _)| known == reason) {
            Some((_, labels)) => labels.push(label.clone()),
            None => skipped.push((reason, vec![label.clone()])),
        }
    }
    for (reason, labels) in skipped {
        out.push_str(&wrapped("  ", &format!("not compared: {}: {reason}", listed(labels)), style));
    }
    out.push_str(&lent(compared, style));
    if let Some(text) = floors(compared) {
        out.push_str(&wrapped("  ", &text, style));
    }
    for side in &compared.references {
        let figures = side.modes.iter().map(|mode| mode.0).chain(side.median);
        let figures: Vec<String> = figures.map(nanoseconds).collect();
        let span = side.interval.map_or(String::new(), |(low, high)| {
            format!(", 95 % interval {} – {}", nanoseconds(low), nanoseconds(high))
        });
        out.push_str(&wrapped(
            "",
            &format!(
                "A: {} of run {}: {} {} per {}{span}",
                side.label,
                side.run,
                figures.join(" | "),
                side.quantity.unit,
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
    let notes: BTreeSet<&String> = compared.notes.iter().collect();
    notes.into_iter().for_each(|note| out.push_str(&wrapped("  ", note, style)));
    out
}

/// What differs between equal things, by row: one noisy row says nothing of the others. Rows that no difference could be told of have no such bound.
fn floors(compared: &Compared) -> Option<String> {
    let judged = |row: &&ComparedRow| row.a.quantity == Quantity::TIME && row.comparison.interval.is_some();
    let rows = || compared.rows.iter().filter(judged);
    let of = |row: &&ComparedRow| row.comparison.floor;
    let least = rows().min_by(|a, b| of(a).total_cmp(&of(b)))?;
    let most = rows().max_by(|a, b| of(a).total_cmp(&of(b)))?;
    let (low, high) = (percent(of(&least)), percent(of(&most)));
    Some(if low == high {
        format!("differences below {low} mean nothing here: as much differs between equal things")
    } else {
        format!(
            "differences below {low} ({}) to {high} ({}) mean nothing here: as much differs between equal things",
            least.b.label, most.b.label
        )
    })
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
#[must_use]
pub fn published_figure(value: &Published) -> String {
    match value.high {
        Some(high) => format!("{} – {}", nanoseconds(value.low), nanoseconds(high)),
        None if value.upper_bound => format!("below {}", nanoseconds(value.low)),
        None => nanoseconds(value.low),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_as_people_say_them() {
        let all: Vec<String> =
            [0.82, 1.1, 1.031, 0.995, 1.0, 27.31, 0.034].map(|ratio| ratio_phrase(ratio, Quantity::TIME)).into();
        let said = [
            "18 % faster",
            "10 % slower",
            "3.1 % slower",
            "0.50 % faster",
            "no difference",
            "27.3 times slower",
            "29.4 times faster",
        ];
        assert_eq!(all, said);
        assert_eq!(
            [0.82, 27.31].map(|ratio| ratio_phrase(ratio, Quantity::MEMORY)),
            ["18 % smaller", "27.3 times larger"]
        );
    }
}
