//! What a comparison has to say: its headline, one table, and what it rests on.

use super::compared::{Compared, ComparedRow, Loaded, RowFigures};
use super::words;
use crate::answer::{Answer, Cell, Headline, Section, Tint};
use crate::text::some;
use std::collections::BTreeSet;
use switchcost_analysis::number::{counted, exactly, nanoseconds, percent};
use switchcost_analysis::{At, Condition, Grown, Outcome, Quantity};
use switchcost_catalogue::Published;
use switchcost_model::{Value, commonest_first};

impl Compared {
    /// All that is said of it.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let refused = self
            .refused
            .iter()
            .map(|reason| format!("No verdict: {reason}; measure again on a quieter machine, or insist by --force"));
        let whole = self.cautions.iter().cloned().chain(refused).collect();
        // That rows have too few starts is a caution.
        let few = |limit: &&Condition| !matches!(limit, Condition::FewStarts { .. });
        let sides = self.rows.iter().flat_map(|row| [&row.a, &row.b]);
        let sides = sides.map(|side| (side.label.as_str(), side.conditions.iter().filter(few).copied().collect()));
        let burdens = self.loaded.iter().flat_map(|loaded| &loaded.burdens).filter(|_| self.rows.is_empty());
        let burdens = burdens.map(|burden| (burden.mechanism.as_str(), burden.conditions.clone()));
        let rests_on: Vec<(&str, Vec<Condition>)> = sides.chain(burdens).collect();
        let mut claims: Vec<String> = self.loaded.iter().map(Loaded::claim).collect();
        claims.extend(self.claim());
        let ordered = self.in_order();
        let reasons = self.reasons(&ordered);
        let mut sections: Vec<Section> = self.loaded.iter().map(Loaded::table).collect();
        sections.push(if self.names().is_empty() { self.table(&ordered, &reasons) } else { self.by_name() });
        Answer {
            headline: Headline::on(claims, whole, rests_on),
            about: self.about(),
            sections,
            remarks: self.remarks(&reasons),
            outcome: self.outcome(),
        }
    }

    /// The line of the gate, with what limits its rows.
    pub(super) fn outcome(&self) -> Option<String> {
        self.gate.as_ref().map(|gate| words::gate(gate, self.at) + &limits(&self.rows))
    }

    /// Of two runs the rows that moved stand first, the largest change before all.
    fn in_order(&self) -> Vec<&ComparedRow> {
        let mut rows: Vec<&ComparedRow> = self.rows.iter().collect();
        let moved = |row: &ComparedRow| matches!(row.comparison.outcome, Outcome::Slower | Outcome::Faster);
        let change = |row: &ComparedRow| row.comparison.ratio.ln().abs();
        if self.runs.len() == 2 && self.names().is_empty() && self.reference().is_none() {
            rows.sort_by(|a, b| moved(b).cmp(&moved(a)).then(change(b).total_cmp(&change(a))));
        }
        rows
    }

    /// The row that all others are compared with, if it is another one than they are.
    fn reference(&self) -> Option<&RowFigures> {
        let first = &self.rows.first()?.a;
        let same = |row: &ComparedRow| (&row.a.run, &row.a.label) == (&first.run, &first.label);
        let apart = self.rows.len() > 1 || first.label != self.rows[0].b.label;
        (apart && self.rows.iter().all(same)).then_some(first)
    }

    /// Of one pair what differs, of many how many do; of names one for each that stands beside the
    /// first.
    fn claim(&self) -> Option<String> {
        let first = self.rows.first().filter(|_| self.refused.is_empty())?;
        let clauses = || self.rows.iter().map(|row| clause(row, self.at)).collect::<Vec<_>>().join("; ");
        let lost: usize = self.unmatched.iter().map(|side| side.labels.len()).sum();
        let lost = lost + self.skipped.len();
        let names = self.names();
        if let [a, b] = names.as_slice() {
            return Some(format!("{b} against {a}: {}", clauses()));
        }
        if let [a, ..] = names.as_slice() {
            return Some(format!("Against {a}, on this machine:"));
        }
        let claim = if self.rows.len() == 1 {
            let (a, b) = (&first.a.label, &first.b.label);
            let names = if a == b { "B against A".to_owned() } else { format!("{b} against {a}") };
            format!("{names}: {}", clauses())
        } else {
            let count = |kind| self.rows.iter().filter(|row| word(row.comparison.outcome) == kind).count();
            let kinds = ["slower", "faster", "the same", "inconclusive"].map(|kind| (count(kind), kind));
            let kinds = kinds.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}"));
            let kinds = kinds.collect::<Vec<_>>().join(" · ");
            match self.reference() {
                Some(reference) => format!("Against {} ({}): {kinds}", reference.label, cost(reference)),
                None => format!("B against A: {kinds}"),
            }
        };
        Some(if lost > 0 { format!("{claim} · {lost} not compared") } else { claim })
    }

    fn about(&self) -> Vec<(&'static str, String)> {
        let mut about = Vec::new();
        for side in &self.unmatched {
            let (run, count) = (if side.lost { "A" } else { "B" }, counted(side.labels.len(), "row"));
            about.push(("", format!("only {run} has {count}: {}", some(&side.labels))));
        }
        match self.runs.as_slice() {
            [] => {}
            [only] => about.push(("", format!("run {} · {}", only.id, only.machine))),
            [a, b] if self.names().is_empty() => {
                let machine = match self.differences.len() {
                    _ if a.machine != b.machine => b.machine.clone(),
                    0 => "same machine and kernel".to_owned(),
                    1 => "same processor and kernel, 1 recorded fact differs".to_owned(),
                    count => format!("same processor and kernel, {} differ", counted(count, "recorded fact")),
                };
                about.push(("A  ", format!("run {} · {}", a.id, a.machine)));
                about.push(("B  ", format!("run {} · {machine}", b.id)));
            }
            several => {
                let ids: Vec<&str> = several.iter().map(|run| run.id.as_str()).collect();
                about.push(("", format!("runs {}", ids.join(", "))));
            }
        }
        about
    }

    /// A line a row: both figures, the interval, what it means, and what the row would have
    /// detected.
    fn table(&self, rows: &[&ComparedRow], reasons: &[String]) -> Section {
        let several = self.runs.len() > 2;
        let name =
            |side: &RowFigures| if several { format!("{}:{}", side.run, side.label) } else { side.label.clone() };
        let reference = self.reference();
        let alike = rows.iter().all(|row| name(&row.a) == name(&row.b));
        let (name_of_b, b, name_of_a, a, is) = match (reference, alike) {
            (Some(_), _) => ("", "", "", "", "is"),
            (None, true) => ("", "A", "", "B", "B is"),
            (None, false) => ("B", "", "A", "", "B is"),
        };
        let mut table = Section::new([
            (name_of_b, 0),
            (b, 0),
            (name_of_a, 0),
            (a, 0),
            ("interval", 2),
            (is, 0),
            ("would detect", 3),
            ("", 0),
        ]);
        if let Some(side) = reference.filter(|_| !rows.is_empty()) {
            let limits = Cell::Limits(side.conditions.clone());
            let cells = [Cell::Name(name(side)), figure(side), Cell::Empty, Cell::Empty, Cell::Empty];
            let words = [Cell::Value("reference".into()), Cell::Empty, limits];
            table.rows.push(cells.into_iter().chain(words).collect());
        }
        for row in rows {
            let sides = [&row.a, &row.b];
            let of_a = if reference.is_none() { figure(&row.a) } else { Cell::Empty };
            let beside = if name_of_a.is_empty() { Cell::Empty } else { Cell::Value(name(&row.a).into()) };
            let detected = row.comparison.detectable.filter(|detected| *detected > 0.0).map_or(Cell::Empty, detected);
            let reason = row.reason();
            let mark = reasons.iter().position(|known| *known == reason);
            let mark = mark.map_or_else(String::new, |place| format!(" [{}]", place + 1));
            let (mut is, tint) = self.verdict(row);
            is += &mark;
            let limits = sides.iter().skip(usize::from(reference.is_some()));
            let mut limits: Vec<Condition> = limits.flat_map(|side| side.conditions.iter().copied()).collect();
            limits.sort();
            limits.dedup_by_key(|limit| limit.word());
            let (first, last) = if alike { (of_a, figure(&row.b)) } else { (figure(&row.b), of_a) };
            table.rows.push(vec![
                Cell::Name(name(&row.b)),
                first,
                beside,
                last,
                Cell::Value(span(row)),
                tint.map_or(Cell::Value(is.clone().into()), |tint| Cell::Verdict(is, tint)),
                detected,
                Cell::Limits(limits),
            ]);
        }
        table
    }

    fn verdict(&self, row: &ComparedRow) -> (String, Option<Tint>) {
        if !self.refused.is_empty() {
            return ("no verdict".to_owned(), None);
        }
        let tint = match row.comparison.outcome {
            Outcome::Slower => Some(Tint::Red),
            Outcome::Faster => Some(Tint::Green),
            Outcome::Same(_) => None,
            Outcome::CannotTell => Some(Tint::Yellow),
        };
        (change(row), tint)
    }

    /// Mechanisms by name: a line for each question, with the figure of each and its factor to the
    /// first that has one.
    fn by_name(&self) -> Section {
        let names = self.names();
        let titles = names.iter().flat_map(|name| [*name, ""]).map(|title| (title, 0));
        let mut table = Section::new([("", 0)].into_iter().chain(titles).chain([("", 0)]));
        table.goes_on = true;
        let mut questions: Vec<Vec<&ComparedRow>> = Vec::new();
        for row in &self.rows {
            match questions.iter_mut().find(|rows| question(rows[0]) == question(row)) {
                Some(rows) => rows.push(row),
                None => questions.push(vec![row]),
            }
        }
        for rows in questions {
            let mut cells = vec![Cell::Name(question(rows[0]))];
            let mut limits = Vec::new();
            for name in &names {
                let own = |asked: &str| asked == *name;
                let of_a = rows.iter().find(|row| row.asked.as_ref().is_some_and(|asked| own(&asked.a)));
                let of_b = rows.iter().find(|row| row.asked.as_ref().is_some_and(|asked| own(&asked.b)));
                let side = of_a.map(|row| &row.a).or(of_b.map(|row| &row.b));
                limits.extend(side.iter().flat_map(|side| side.conditions.iter().copied()));
                cells.push(side.map_or(Cell::Value(Value::Unknown), figure));
                cells.push(of_b.map_or(Cell::Empty, |row| self.factor(row)));
            }
            limits.sort();
            limits.dedup_by_key(|limit| limit.word());
            cells.push(Cell::Limits(limits));
            table.rows.push(cells);
        }
        table
    }

    /// How many times as much, in the colour of its verdict.
    fn factor(&self, row: &ComparedRow) -> Cell {
        if !self.refused.is_empty() {
            return Cell::Empty;
        }
        let (_, tint) = self.verdict(row);
        tint.map_or_else(|| times(row).into(), |tint| Cell::Verdict(times(row), tint))
    }

    /// The different reasons of verdicts; a verdict's mark is the place of its own in this list.
    fn reasons(&self, rows: &[&ComparedRow]) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for reason in rows.iter().filter(|_| self.refused.is_empty()).map(|row| row.reason()) {
            if !reason.is_empty() && !all.contains(&reason) {
                all.push(reason);
            }
        }
        all
    }

    fn remarks(&self, reasons: &[String]) -> Vec<String> {
        let shown = if self.names().is_empty() { reasons } else { &[] };
        let mut out: Vec<String> =
            shown.iter().enumerate().map(|(place, reason)| format!("[{}] {reason}", place + 1)).collect();
        for row in self.rows.iter().filter(|row| !row.grown.is_empty()) {
            let functions = row.grown.iter().map(function).collect::<Vec<_>>().join(", ");
            out.push(format!("{}: by function: {functions}", row.b.label));
        }
        let mut skipped: Vec<(&str, Vec<String>)> = Vec::new();
        for (label, reason) in &self.skipped {
            match skipped.iter_mut().find(|(known, _)| known == reason) {
                Some((_, labels)) => labels.push(label.clone()),
                None => skipped.push((reason, vec![label.clone()])),
            }
        }
        out.extend(skipped.into_iter().map(|(reason, labels)| format!("not compared: {}: {reason}", some(&labels))));
        out.extend(self.lent());
        out.extend(self.floors());
        out.extend(self.references.iter().map(of_reference));
        if !self.published.is_empty() {
            out.push("Published by others: other machine, other method, no verdict:".to_owned());
            out.extend(self.published.iter().map(|value| format!("- {}", published_phrase(value))));
        }
        let several =
            |row: &ComparedRow| row.a.modes.len().min(row.b.modes.len()) > 1 && row.comparison.modes.is_none();
        if self.rows.iter().any(|row| several(row) && row.comparison.outcome != Outcome::CannotTell) {
            out.push(
                "Modes are compared one by one, the cheapest with the cheapest, whatever their shares.".to_owned(),
            );
        }
        let mut notes: Vec<String> = self.notes.clone();
        notes.sort();
        notes.dedup();
        out.extend(notes);
        out
    }

    /// Whose figures stand for a mechanism that has none of its own.
    fn lent(&self) -> Vec<String> {
        let mut loans: Vec<(String, Vec<String>)> = Vec::new();
        let sides = self.rows.iter().filter_map(|row| Some((row, row.asked.as_ref()?)));
        for (side, asked) in sides.flat_map(|(row, asked)| [(&row.a, &asked.a), (&row.b, &asked.b)]) {
            let lender = side.label.split([' ', '@']).next().unwrap_or_default();
            if lender == asked {
                continue;
            }
            let (loan, what) = (format!("of {asked} are those of {lender}"), side.experiment.to_string());
            match loans.iter_mut().find(|(known, _)| *known == loan) {
                Some((_, experiments)) if experiments.contains(&what) => {}
                Some((_, experiments)) => experiments.push(what),
                None => loans.push((loan, vec![what])),
            }
        }
        loans.into_iter().map(|(loan, what)| format!("{} {loan}", what.join(" and "))).collect()
    }

    /// What differs between equal things, by row: one noisy row says nothing of the others.
    fn floors(&self) -> Option<String> {
        let judged = |row: &&ComparedRow| row.a.quantity == Quantity::TIME && row.comparison.interval.is_some();
        let rows = || self.rows.iter().filter(judged);
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
}

/// What limits conclusions from these rows, such as `; disturbed; drifting`.
pub(super) fn limits<'r>(rows: impl IntoIterator<Item = &'r ComparedRow>) -> String {
    let sides = rows.into_iter().flat_map(|row| [&row.a, &row.b]).flat_map(|side| &side.conditions);
    let words: BTreeSet<&str> = sides.map(|limit| limit.word()).collect();
    words.into_iter().map(|word| format!("; {word}")).collect()
}

/// What was asked of mechanisms by name: `switch, 10,000 contexts`.
fn question(row: &ComparedRow) -> String {
    let memory = row.a.experiment.quantity == Quantity::MEMORY;
    let what = if memory { "memory".to_owned() } else { row.a.experiment.to_string() };
    of(what, row)
}

/// With what the question says beside its experiment.
fn of(what: String, row: &ComparedRow) -> String {
    let beside = row.asked.as_ref().map_or("", |asked| asked.beside.as_str());
    if beside.is_empty() { what } else { format!("{what}, {beside}") }
}

/// `a switch is 4.7 times slower`.
fn clause(row: &ComparedRow, at: At) -> String {
    let experiment = row.a.experiment;
    let what = if row.a.unit == experiment.unit { &experiment.clause } else { &row.a.unit };
    let what = if at == At::Median { what.clone() } else { format!("the {at} of {what}") };
    let what = of(what, row);
    match row.comparison.outcome {
        Outcome::Same(within) => format!("{what} is {}", same(within)),
        Outcome::CannotTell => format!("{what}: inconclusive"),
        _ => format!("{what} is {}", row.phrase()),
    }
}

fn function(grown: &Grown) -> String {
    format!("{} {} → {} ({:+.2})", grown.function, exactly(grown.a), exactly(grown.b), grown.b - grown.a)
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

/// A cost with its unit: of a switch nothing more is said. A row with modes has a cost for each.
fn cost(side: &RowFigures) -> String {
    let amount = amount(side);
    if side.unit == side.experiment.unit { amount.to_string() } else { format!("{amount} per {}", side.unit) }
}

fn figure(side: &RowFigures) -> Cell {
    Cell::Value(amount(side))
}

/// The median, or each mode.
fn amount(side: &RowFigures) -> Value {
    let one = side.median.map(|median| (median, 1.0));
    let figures: Vec<(f64, f64)> = side.modes.iter().copied().chain(one).collect();
    if figures.is_empty() { Value::Unknown } else { Value::Either(figures, side.quantity) }
}

/// The difference that a row would have shown; beyond the double the interval says enough.
fn detected(fraction: f64) -> Cell {
    if fraction > 1.0 { "> 100 %".into() } else { Cell::Value(Value::Percent(fraction)) }
}

/// `×4.8`, `÷93`, or what the verdict leaves of it.
fn times(row: &ComparedRow) -> String {
    match (row.comparison.outcome, row.ratio()) {
        (Outcome::Same(_), _) => "same".to_owned(),
        (Outcome::CannotTell, _) => "inconclusive".to_owned(),
        (_, None) => row.modes().map_or_else(String::new, |modes| {
            format!("{}{}", if modes.1 < 1.0 { "÷" } else { "×" }, words::factors(modes))
        }),
        (_, Some(ratio)) if ratio < 1.0 => format!("÷{}", Value::Ratio(1.0 / ratio)),
        (_, Some(ratio)) => format!("×{}", Value::Ratio(ratio)),
    }
}

/// The interval in the words of the verdict: `26 – 28 %` faster, `5.9 – 6.0` times; of no
/// difference with signs, `÷3.4 – ×136` of a wide one.
pub(super) fn span(row: &ComparedRow) -> Value {
    let Some((low, high)) = row.comparison.interval else { return Value::Unknown };
    let sure = matches!(row.comparison.outcome, Outcome::Slower | Outcome::Faster);
    let in_percent = row.ratio().is_some_and(|ratio| ratio > 0.5 && ratio < 2.0);
    match (sure, in_percent) {
        (true, false) => words::factors((low, high)),
        (true, true) if high < 1.0 => Value::between(Value::Percent(1.0 - high), Value::Percent(1.0 - low)),
        (true, true) => Value::between(Value::Percent(low - 1.0), Value::Percent(high - 1.0)),
        (false, _) if low < 0.5 || high > 2.0 => Value::between(Value::Grown(low), Value::Grown(high)),
        (false, _) => Value::between(Value::Change(low - 1.0), Value::Change(high - 1.0)),
    }
}

/// What the verdict says of B: `17 % less`, `inconclusive`.
pub(super) fn change(row: &ComparedRow) -> String {
    match row.comparison.outcome {
        Outcome::Slower | Outcome::Faster => row.phrase(),
        Outcome::Same(within) => same(within).trim_start_matches("the ").to_owned(),
        Outcome::CannotTell => "inconclusive".to_owned(),
    }
}

/// The reference of a comparison with published figures only.
fn of_reference(side: &RowFigures) -> String {
    let figures = commonest_first(&side.modes).into_iter().map(|mode| mode.0).chain(side.median);
    let figures = figures.map(nanoseconds).collect::<Vec<_>>().join(" or ");
    let span = side.interval.map_or(String::new(), |(low, high)| {
        format!(", 95 % interval {}", Value::between(Value::Bare(low), Value::Bare(high)))
    });
    format!("A: {} of run {}: {figures} {} per {}{span}", side.label, side.run, side.quantity.unit, side.unit)
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
        Some(high) => Value::between(Value::Bare(value.low), Value::Bare(high)).to_string(),
        None if value.upper_bound => format!("below {}", nanoseconds(value.low)),
        None => nanoseconds(value.low),
    }
}
