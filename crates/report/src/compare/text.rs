//! Comparisons as people read them: the answer, then what it rests on.

use super::compared::{Compared, ComparedRow, ComparedSide};
use super::words::{by_modes, signed};
use super::{load, words};
use crate::text::{self, Style, Tint, cell, drawn, kept, markdown_table, right, some, tinted, wrapped};
use comfy_table::Table;
use std::collections::BTreeSet;
use switchcost_analysis::number::{counted, exactly, nanoseconds, percent};
use switchcost_analysis::{Grown, Outcome, Quantity, Why};
use switchcost_catalogue::Published;

/// A cost with its unit: of a switch nothing more is said. A row with modes has a cost for each.
fn cost(side: &ComparedSide) -> String {
    let figures = side.modes.iter().map(|mode| mode.0).chain(side.median);
    let amount = figures.map(|figure| side.quantity.amount(figure)).collect::<Vec<_>>().join(" or ");
    let plain = side.unit == side.experiment.unit;
    if plain { amount } else { format!("{amount} per {}", side.unit) }
}

/// For a terminal.
#[must_use]
pub fn compare_text(compared: &Compared, style: Style) -> String {
    written(compared, Form { style, blank: &|| style.table(), after: "", all: false })
}

/// As Markdown.
#[must_use]
pub fn compare_markdown(compared: &Compared) -> String {
    written(compared, Form { style: Style::PLAIN, blank: &markdown_table, after: "\n", all: true })
}

/// What is written for whom.
struct Form<'f> {
    style: Style,
    /// A table of this form.
    blank: &'f dyn Fn() -> Table,
    /// What ends it.
    after: &'f str,
    /// Of runs every row has a line, not only those that moved.
    all: bool,
}

fn written(compared: &Compared, form: Form<'_>) -> String {
    let Form { style, blank, after, all } = form;
    let moved = |row: &ComparedRow| matches!(row.comparison.outcome, Outcome::Slower | Outcome::Faster);
    // Of two runs the rows that moved stand first, the largest change before all.
    let runs = compared.runs.len() == 2 && compared.rows.len() > 1 && compared.names().is_empty();
    let runs = runs && reference(&compared.rows).is_none();
    let mut rows: Vec<&ComparedRow> = compared.rows.iter().collect();
    let change = |row: &ComparedRow| row.comparison.ratio.ln().abs();
    if runs {
        rows.sort_by(|a, b| moved(b).cmp(&moved(a)).then(change(b).total_cmp(&change(a))));
    }
    let (rows, rest): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| all || !runs || moved(row));
    let body = match (rows.is_empty(), compared.names().is_empty()) {
        (true, _) => String::new(),
        (_, true) => filled(blank(), compared, &rows, style.colour) + after,
        _ => beside(blank(), compared, style.colour) + after,
    };
    let gate = compared.gate.as_ref().map_or(String::new(), |gate| wrapped("", &words::gate(gate), style));
    let (head, rest) = (head(compared, style, blank), unmoved(&rest, style));
    style.sealed(&format!("{head}{after}{body}{rest}{}{gate}", tail(compared, &rows, style)))
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
    out.push_str(&answer(compared, style, blank));
    for side in &compared.unmatched {
        let (run, count) = (if side.lost { "A" } else { "B" }, counted(side.labels.len(), "row"));
        out.push_str(&wrapped("  ", &format!("only {run} has {count}: {}", some(&side.labels, style)), style));
    }
    match compared.runs.as_slice() {
        [] => {}
        [only] => out.push_str(&wrapped("  ", &format!("run {} · {}", only.id, only.machine), style)),
        [a, b] if compared.names().is_empty() => {
            let machine = if a.machine == b.machine { "same machine and kernel" } else { &b.machine };
            out.push_str(&wrapped("  A  ", &format!("run {} · {}", a.id, a.machine), style));
            out.push_str(&wrapped("  B  ", &format!("run {} · {machine}", b.id), style));
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
    let names = compared.names();
    if let [a, b] = names.as_slice() {
        sentences.push(format!("{b} against {a}: {}", clauses(&mut compared.rows.iter())));
    } else if let [a, ..] = names.as_slice() {
        sentences.push(format!("Against {a}, on this machine"));
    } else if compared.rows.len() == 1 {
        let (a, b) = (&first.a.label, &first.b.label);
        let names = if a == b { "B against A".to_owned() } else { format!("{b} against {a}") };
        sentences.push(format!("{names}: {}", clause(first)));
    } else {
        let kinds = [word(Outcome::Slower), word(Outcome::Faster), word(Outcome::Same(0.0)), word(Outcome::CannotTell)];
        let count = |kind| compared.rows.iter().filter(|row| word(row.comparison.outcome) == kind).count();
        let counted = kinds.map(|kind| (count(kind), kind)).into_iter().filter(|(count, _)| *count > 0);
        let counted = counted.map(|(count, kind)| format!("{count} {kind}")).collect::<Vec<_>>().join(" · ");
        let against = reference(&compared.rows).map(|a| format!("Against {} ({})", a.label, cost(a)));
        sentences.push(format!("{}: {counted}", against.as_deref().unwrap_or("B against A")));
    }
    let apart: usize = compared.unmatched.iter().map(|side| side.labels.len()).sum::<usize>() + compared.skipped.len();
    if let Some(last) = sentences.last_mut().filter(|_| apart > 0) {
        last.push_str(&format!(" · {apart} not compared"));
    }
    if let Some(last) = sentences.last_mut().filter(|_| names.len() > 2 && !compared.rows.is_empty()) {
        last.push(':');
    }
    sentences.iter().for_each(|sentence| out.push_str(&style.headline(sentence)));
    out
}

/// `a switch is 4.7 times slower`.
fn clause(row: &ComparedRow) -> String {
    let experiment = row.a.experiment;
    let what = if row.a.unit == experiment.unit { &experiment.clause } else { &row.a.unit };
    match row.comparison.outcome {
        Outcome::Same(within) => format!("{what} is {}", same(within)),
        Outcome::CannotTell => format!("{what}: inconclusive"),
        _ => format!("{what} is {}", row.phrase()),
    }
}

/// Counts are the same or not.
fn same(within: f64) -> String {
    if within > 0.0 { format!("the same within {}", percent(within)) } else { "exactly the same".to_owned() }
}

/// What became of a row.
fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Slower => "slower",
        Outcome::Faster => "faster",
        Outcome::Same(_) => "the same",
        Outcome::CannotTell => "inconclusive",
    }
}

/// One line for the rows of each kind that did not move.
fn unmoved(rest: &[&ComparedRow], style: Style) -> String {
    let mut out = String::new();
    let within = |rows: &[&&ComparedRow]| {
        let most = rows.iter().map(|row| match row.comparison.outcome {
            Outcome::Same(within) => within,
            _ => row.comparison.detectable.unwrap_or(f64::INFINITY),
        });
        most.fold(0.0, f64::max)
    };
    let kind_of = |row: &ComparedRow| (word(row.comparison.outcome), row.comparison.why.as_ref().map(Why::code));
    let kinds: BTreeSet<_> = rest.iter().map(|row| kind_of(row)).collect();
    for (kind, why) in kinds.into_iter().rev() {
        let rows: Vec<&&ComparedRow> = rest.iter().filter(|row| kind_of(row) == (kind, why)).collect();
        let most = match (within(&rows), kind) {
            (most, _) if !most.is_finite() || most <= 0.0 => String::new(),
            (most, "the same") => format!(" within {}", percent(most)),
            (most, _) => format!(" (would detect {})", percent(most)),
        };
        let names = some(&rows.iter().map(|row| row.b.label.clone()).collect::<Vec<_>>(), style);
        let alike = rows.iter().all(|row| row.reason() == rows[0].reason());
        let reason = match rows[0].reason() {
            reason if reason.is_empty() => reason,
            reason if alike => format!("; {reason}"),
            reason => format!("; as of the first: {reason}"),
        };
        out.push_str(&wrapped("  ", &format!("{} {kind}{most}: {names}{reason}", rows.len()), style));
    }
    out
}

/// Mechanisms by name: a line for each, with its figure and its factor to the first for each experiment.
fn beside(mut table: Table, compared: &Compared, colour: bool) -> String {
    let names = compared.names();
    let mut experiments = Vec::new();
    for row in &compared.rows {
        if !experiments.contains(&row.a.experiment) {
            experiments.push(row.a.experiment);
        }
    }
    let title = |experiment: &switchcost_model::Experiment| {
        if experiment.quantity == Quantity::MEMORY { "memory".to_owned() } else { experiment.to_string() }
    };
    let titles = experiments.iter().flat_map(|experiment| [right(title(experiment)), cell("")]);
    table.set_header(std::iter::once(cell("")).chain(titles).chain([cell("verdict")]));
    for (place, name) in names.iter().enumerate() {
        let own: Vec<&ComparedRow> =
            compared.rows.iter().filter(|row| row.asked.as_ref().is_some_and(|asked| asked.1 == *name)).collect();
        let mut cells = vec![cell(name)];
        for experiment in &experiments {
            let of = |row: &&&ComparedRow| row.a.experiment == *experiment;
            let row = if place == 0 {
                compared.rows.iter().find(|row| of(&row))
            } else {
                own.iter().find(|row| of(row)).copied()
            };
            let side = row.map(|row| if place == 0 { &row.a } else { &row.b });
            cells.push(right(side.map_or("–".to_owned(), cost)));
            cells.push(cell(row.filter(|_| place > 0).map_or(String::new(), times)));
        }
        let is = |row: &&ComparedRow| (word(row.comparison.outcome), row.comparison.outcome);
        let verdict = match own.iter().map(is).collect::<Vec<_>>().as_slice() {
            [] => ("reference", None),
            _ if !compared.refused.is_empty() => ("no verdict", None),
            all if all.iter().all(|(word, _)| *word == "slower") => ("costs more", Some(Tint::Red)),
            all if all.iter().all(|(word, _)| *word == "faster") => ("costs less", Some(Tint::Green)),
            [(first, _), rest @ ..] if rest.iter().all(|(word, _)| word == first) => (*first, None),
            _ => ("mixed", None),
        };
        cells.push(tinted(kept(verdict.0), verdict.1.filter(|_| colour)));
        table.add_row(cells);
    }
    drawn(&mut table)
}

/// `×4.8`, `÷93`, or what the verdict leaves of it.
fn times(row: &ComparedRow) -> String {
    match (row.comparison.outcome, row.ratio()) {
        (Outcome::Same(_), _) => "same".to_owned(),
        (Outcome::CannotTell, _) => "inconclusive".to_owned(),
        (_, None) => row.modes().map_or_else(String::new, |modes| {
            let (less, more) = by_modes(modes);
            format!("{}{less} – {more}", if modes.1 < 1.0 { "÷" } else { "×" })
        }),
        (_, Some(ratio)) if ratio < 1.0 => format!("÷{}", text::ratio(1.0 / ratio)),
        (_, Some(ratio)) => format!("×{}", text::ratio(ratio)),
    }
}

/// The row that all others are compared with.
fn reference(rows: &[ComparedRow]) -> Option<&ComparedSide> {
    let [first, others @ ..] = rows else { return None };
    let same = |row: &ComparedRow| (&row.a.run, &row.a.label) == (&first.a.run, &first.a.label);
    (!others.is_empty() && others.iter().all(same)).then_some(&first.a)
}

fn filled(mut table: Table, compared: &Compared, rows: &[&ComparedRow], colour: bool) -> String {
    let several = compared.runs.len() > 2;
    let name = |side: &ComparedSide| if several { format!("{}:{}", side.run, side.label) } else { side.label.clone() };
    let alike = rows.iter().all(|row| name(&row.a) == name(&row.b));
    let named = reference(&compared.rows).is_some();
    let last = [right("interval"), cell(if named { "is" } else { "B is" })];
    let names = match (alike, named) {
        (true, false) => vec![cell(""), right("A"), right("B")],
        (_, true) => ["", ""].map(cell).to_vec(),
        _ => ["A", "", "B", ""].map(cell).to_vec(),
    };
    table.set_header(names.into_iter().chain(last));
    let reasons = reasons(compared, rows);
    for row in rows {
        let comparison = &row.comparison;
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
        let change = tinted(kept(&change), tint.filter(|_| colour));
        let mut cells = if named { Vec::new() } else { vec![cell(text::name(&name(&row.a))), right(cost(&row.a))] };
        cells.extend((!alike || named).then(|| cell(text::name(&name(&row.b)))));
        cells.extend([right(cost(&row.b)), right(span(row)), change]);
        table.add_row(cells);
    }
    drawn(&mut table)
}

/// The interval in the words of the verdict: `26 – 28 %` faster, `5.9 – 6.0` times; of no difference with signs.
pub(super) fn span(row: &ComparedRow) -> String {
    let Some((low, high)) = row.comparison.interval else { return "–".to_owned() };
    let sure = matches!(row.comparison.outcome, Outcome::Slower | Outcome::Faster);
    let in_percent = row.ratio().is_some_and(|ratio| ratio > 0.5 && ratio < 2.0);
    match (sure, in_percent) {
        (true, false) => {
            let (less, more) = by_modes((low, high));
            format!("{less} – {more}")
        }
        (true, true) => {
            let (less, more) = if high < 1.0 { (1.0 - high, 1.0 - low) } else { (low - 1.0, high - 1.0) };
            format!("{} – {}", percent(less).trim_end_matches(" %"), percent(more))
        }
        (false, _) => format!("{} – {}", signed(low - 1.0).trim_end_matches(" %"), signed(high - 1.0)),
    }
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

/// What the verdict says of B: `17 % less`, `inconclusive below 18 %`.
pub(super) fn change(row: &ComparedRow) -> String {
    let comparison = &row.comparison;
    match (comparison.outcome, comparison.detectable) {
        (Outcome::Slower | Outcome::Faster, _) => row.phrase(),
        (Outcome::Same(within), _) => same(within).trim_start_matches("the ").to_owned(),
        (Outcome::CannotTell, Some(detectable)) => format!("inconclusive below {}", percent(detectable)),
        (Outcome::CannotTell, None) => "inconclusive".to_owned(),
    }
}

/// The different reasons of verdicts; a verdict's mark is the place of its own in this list.
fn reasons(compared: &Compared, rows: &[&ComparedRow]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for row in rows.iter().filter(|_| compared.refused.is_empty()) {
        let reason = row.reason();
        if !reason.is_empty() && !all.contains(&reason) {
            all.push(reason);
        }
    }
    all
}

fn tail(compared: &Compared, rows: &[&ComparedRow], style: Style) -> String {
    let mut out = String::new();
    let reasons = if compared.names().is_empty() { reasons(compared, rows) } else { Vec::new() };
    for (i, reason) in reasons.iter().enumerate() {
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
        out.push_str(&wrapped("  ", &format!("not compared: {}: {reason}", some(&labels, style)), style));
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
                figures.join(" or "),
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
        format!("noise floor: {low}")
    } else {
        format!("noise floor: {low} ({}) to {high} ({})", least.b.label, most.b.label)
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
