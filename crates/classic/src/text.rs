//! A program of a write-up: what it prints of each row, beside our figure for the same work.

use crate::programs::{Arguments, Article, Printed, Program};
use switchcost_analysis::number::{grouped, nanoseconds, percent};
use switchcost_analysis::{Analysis, Row};
use switchcost_model::{Timing, Value, Verdict};
use switchcost_report::answer::{Cell, Section};
use switchcost_report::text::{Style, wrapped};
use switchcost_report::{FORMATS, about, figure_of};

/// The rows of a program in its run, each with the units that the original carries out; or why
/// there is none.
pub type Rows = Vec<Result<(Vec<usize>, u64), String>>;

/// A program that has been carried out.
pub struct Performance<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its arguments.
    pub arguments: &'a Arguments,
    /// Arguments were given to a program that never looks at them.
    pub ignored: bool,
    /// What was measured.
    pub run: Analysis<'a>,
    /// Where its rows are in the run.
    pub rows: &'a Rows,
}

/// What the original prints of a row; None if the row has no figure, or it has no such value.
fn printed(row: &Row<'_>, work: u64, value: Printed) -> Option<String> {
    let summary = &row.summary;
    let figures = summary.figures.as_ref().filter(|figures| figures.median > 0.0)?;
    let work = work as f64;
    // A row with groups has a value for each.
    let each = |of: &dyn Fn(f64) -> f64| {
        let modes = summary.shares().into_iter().map(|mode| mode.0);
        let one = summary.modes.is_empty().then_some(figures.median);
        Some(modes.chain(one).map(|ns| nanoseconds(of(ns))).collect::<Vec<_>>().join(" or "))
    };
    let reading = figures.reading.as_ref();
    let transcript = || row.starts.iter().find_map(|start| start.transcript.plan.as_ref().map(|_| &start.transcript));
    match value {
        Printed::UnitNs => each(&|ns| ns),
        Printed::WorkNs => each(&|ns| ns * work),
        Printed::WorkMs => each(&|ns| ns * work / 1e6),
        Printed::PerSecond => each(&|ns| 1e9 / ns),
        Printed::FastestUnitUs => figures.min.map(|ns| nanoseconds(ns / 1e3)),
        Printed::FastestBatchUs => {
            let units = transcript()?.plan.as_ref()?.batch_units;
            figures.min.map(|ns| nanoseconds(ns * units as f64 / 1e3))
        }
        Printed::Ticks => reading.and_then(|reading| each(&|ns| (ns + reading.pair) / reading.tick)),
        Printed::PairTicks => reading.map(|reading| nanoseconds(reading.pair / reading.tick)),
        Printed::UnitTicks => reading.and_then(|reading| each(&|ns| ns / reading.tick)),
        Printed::Voluntary => {
            let kernel = summary.kernel?;
            Some(grouped((kernel.per_unit * (1.0 - kernel.involuntary_share) * work).round() as i64))
        }
        Printed::Involuntary => {
            let kernel = summary.kernel?;
            Some(grouped((kernel.per_unit * kernel.involuntary_share * work).round() as i64))
        }
        Printed::Compiler => {
            let hello = transcript()?.hello.as_ref()?;
            Some(hello.compiler.clone().unwrap_or_else(|| hello.runtime.clone()))
        }
    }
}

/// Stands where there is no figure.
const NONE: &str = "–";

/// Half of the row's interval.
fn width(row: &Row<'_>) -> String {
    let half = row.summary.figures.as_ref().and_then(|figures| figures.half_width());
    let half = half.filter(|_| row.summary.modes.is_empty());
    half.map_or_else(|| NONE.to_owned(), percent)
}

/// What limits a row, behind a comma; nothing of one without limits.
fn limits(row: &Row<'_>) -> String {
    let doubted = Some(row.verdict).filter(|one| !matches!(one, Verdict::Verified | Verdict::Unobservable));
    let words = row.conditions().into_iter().map(|condition| condition.word().to_owned());
    words.chain(doubted.map(|verdict| verdict.to_string())).map(|word| format!(", {word}")).collect()
}

/// A label without the words that all have.
fn own(label: &str, shared: &[&str]) -> String {
    label.split(' ').filter(|word| !shared.contains(word)).collect::<Vec<_>>().join(" ")
}

/// Reasons, and figures of the original, that a short answer gives.
const REASONS: usize = 3;
const FIGURES: usize = 2;

impl Performance<'_> {
    fn measured(&self) -> impl Iterator<Item = (&Row<'_>, u64)> {
        let found = self.rows.iter().filter_map(|rows| rows.as_ref().ok());
        found.flat_map(|(rows, work)| rows.iter().map(|&row| (&self.run.rows[row], *work)))
    }

    /// What the labels of all rows say behind the mechanism.
    fn shared(&self) -> Vec<&str> {
        let mut rows = self.measured().map(|(row, _)| row.label.split(' ').skip(1));
        let first: Vec<&str> = rows.next().into_iter().flatten().collect();
        let others: Vec<Vec<&str>> = rows.map(Iterator::collect).collect();
        let by_all = |word: &&str| word.contains('=') && others.iter().all(|other| other.contains(word));
        first.into_iter().filter(|word| !others.is_empty() && by_all(word)).collect()
    }

    /// `style`: for a terminal; None: for a Markdown page.
    fn table(&self, style: Option<Style>) -> String {
        let shared = self.shared();
        let name = shared.join(" ");
        let headings = self.program.columns.iter().map(|column| (column.heading.as_str(), 1));
        let titles = [(name.as_str(), 0)].into_iter().chain(headings).chain([("ours", 0), ("±", 2), ("", 0)]);
        let row = |(row, work): (&Row<'_>, u64)| {
            let values = self.program.columns.iter().map(|column| printed(row, work, column.value));
            let values = values.map(|value| value.map_or(Cell::Value(Value::Unknown), |value| value.into()));
            let limits = Some(row.conditions()).filter(|limits| !limits.is_empty());
            let ours = [figure_of(row).into(), width(row).into(), limits.map_or(Cell::Empty, Cell::Limits)];
            [Cell::Name(own(&row.label, &shared))].into_iter().chain(values).chain(ours).collect()
        };
        let table = Section::new(titles).with(self.measured().map(row));
        style.map_or_else(|| table.markdown(), |style| table.terminal(style))
    }

    /// What the program prints here, beside what its article says; None if the row of the article
    /// has no figure.
    fn beside_article(&self) -> Option<String> {
        let rows = self.program.rows.iter().zip(self.rows);
        let (article, rows, work) = rows
            .filter_map(|(row, found)| Some((row.article.as_ref()?, found.as_ref().ok()?)))
            .map(|(article, (rows, work))| (article, rows, *work))
            .next()?;
        let row = &self.run.rows[*rows.first()?];
        let column = self.program.columns.iter().find(|column| column.heading == article.column)?;
        let here = printed(row, work, column.value)?;
        let Article { says, unit, on, .. } = article;
        let label = own(&row.label, &self.shared());
        let limits = limits(row);
        Some(format!("Here {here} {unit} ({label}{limits}); the article says {says} ({on})."))
    }

    /// What one unit costs here, by the rows that were timed as a whole; of several the least and
    /// the most.
    fn answer(&self) -> Option<String> {
        let timed = self.measured().map(|(row, _)| row).filter(|row| {
            row.verdict == Verdict::Verified && row.variant.timing == Timing::Batch && row.median().is_some()
        });
        let mut rows: Vec<&Row<'_>> = timed.collect();
        rows.sort_by(|a, b| a.median().unwrap_or_default().total_cmp(&b.median().unwrap_or_default()));
        let shared = self.shared();
        let cost = |row: &Row<'_>| {
            let figure = Some(width(row)).filter(|width| width != NONE).map(|width| format!(" ±{width}"));
            let (figure, name) = (figure.unwrap_or_default(), own(&row.label, &shared));
            format!("{}{figure} ({name}{})", figure_of(row), limits(row))
        };
        let unit = &rows.first()?.unit;
        match rows.as_slice() {
            [only] => Some(format!("Here one {unit} takes {}.", cost(only))),
            [first, .., last] if last.unit == *unit => {
                let apart = first.reach().zip(last.reach()).is_none_or(|((_, high), (low, _))| high < low);
                let (from, to) = if apart { ("from ", "to") } else { ("", "and") };
                Some(format!("Here one {unit} takes {from}{} {to} {}.", cost(first), cost(last)))
            }
            _ => None,
        }
    }

    fn command(&self) -> String {
        let values = self.program.arguments.iter().filter_map(|argument| self.arguments.get(&argument.name));
        values.fold(self.program.name.clone(), |text, value| format!("{text} {value}"))
    }

    /// Each list under the table with its heading; empty ones are left out. Not `whole`: of each
    /// reason the first sentence.
    fn lists(&self, whole: bool) -> Vec<(&'static str, Vec<String>)> {
        let reason =
            |row: &Row<'_>| row.reason.as_ref().map(|reason| format!("{} is {}: {reason}", row.label, row.verdict));
        let absent = self.rows.iter().filter_map(|rows| rows.as_ref().err().cloned());
        let unverified = self.measured().filter_map(|(row, _)| reason(row)).chain(absent).collect();
        let ignored = self.ignored.then(|| "The arguments were ignored, as the original ignores them.".to_owned());
        let first = |text: &String| match text.split_once(". ") {
            Some((first, _)) if !whole => format!("{first} …"),
            _ => text.clone(),
        };
        let (reasons, figures) = if whole { (usize::MAX, usize::MAX) } else { (REASONS, FIGURES) };
        let differences = self.program.differences.iter().take(reasons).map(first);
        let differences = ignored.into_iter().chain(differences).collect();
        let known = self.program.known.iter().take(figures);
        let known = known.map(|known| format!("{}: {}", known.on, known.printed)).collect();
        let all = [
            ("Not verified", unverified),
            ("Why the original differs", differences),
            ("What the original has printed", known),
        ];
        all.into_iter().filter(|(_, items): &(_, Vec<String>)| !items.is_empty()).collect()
    }
}

/// For a terminal of this style, `whole` or in short; None: a section of a Markdown page, whole.
pub fn performance_text(performance: &Performance<'_>, style: Option<Style>, whole: bool) -> String {
    let (command, program) = (performance.command(), performance.program);
    let plain = style.unwrap_or(Style::PLAIN);
    let what = format!("{} ({}).", program.title, program.source);
    let mut text = match style {
        Some(style) => {
            let first = performance.beside_article().map(|answer| style.headline(&answer));
            let second = performance.answer().map(|answer| wrapped("", &answer, style));
            first.unwrap_or_default() + &second.unwrap_or_default() + &wrapped("", &format!("{command}: {what}"), style)
        }
        None => {
            let answers = [performance.beside_article(), performance.answer()].into_iter().flatten();
            let answers: String = answers.map(|answer| format!(" {answer}")).collect();
            format!("## `{command}`\n\n{what}{answers}\n\n")
        }
    };
    let lines = about(performance.run.run);
    let shown = if whole || style.is_none() { 2 } else { 1 };
    let about: String = lines.iter().take(shown).map(|line| wrapped("", line, plain)).collect();
    text.push_str(&format!("{about}\n{}", performance.table(style)));
    let whole = whole || style.is_none();
    for (heading, items) in performance.lists(whole) {
        match style {
            Some(style) => text.push_str(&format!("{}\n", style.bold(heading))),
            None => text.push_str(&format!("\n**{heading}**\n\n")),
        }
        let lead = if style.is_some() { "  - " } else { "- " };
        items.iter().for_each(|item| text.push_str(&wrapped(lead, item, plain)));
    }
    if !whole {
        text.push_str("  … all reasons and figures in full, and how noisy it was: classic -v\n");
    }
    plain.sealed(&text)
}

/// The run as JSON.
pub fn performance_json(performance: &Performance<'_>) -> Result<String, String> {
    let json = FORMATS.iter().find(|format| format.name() == "json").ok_or("there is no JSON")?;
    json.write(&performance.run, Style::PLAIN)
}

/// The list of programs by article; `whole`: with what each measures, and its arguments.
pub fn programs_text(programs: &[Program], whole: bool, style: Style) -> String {
    let mut articles: Vec<(&str, Vec<&Program>)> = Vec::new();
    for program in programs {
        match articles.iter_mut().find(|(source, _)| *source == program.source) {
            Some((_, own)) => own.push(program),
            None => articles.push((&program.source, vec![program])),
        }
    }
    let mut text = style.headline("Programs of published articles; what each prints is set beside our figure:");
    for (source, programs) in articles {
        text.push_str(&wrapped("", source, style));
        for program in programs {
            let names = program.arguments.iter().map(|argument| format!(" {}", argument.name.to_uppercase()));
            let call = format!("{}{}", program.name, names.collect::<String>());
            text.push_str(&wrapped(&format!("  {call}: "), &program.title, style));
            if whole {
                let arguments = program.arguments.iter().map(|argument| {
                    format!("; {}: {} to {}, default {}", argument.name, argument.min, argument.max, argument.default)
                });
                let arguments: String = arguments.collect();
                let about = format!("{}; at most {} s{arguments}", program.explains, program.budget_s);
                text.push_str(&wrapped("      ", &about, style));
            }
        }
    }
    let more = if whole { "" } else { "; `classic -v` says what each measures" };
    text.push_str(&wrapped(
        "",
        &format!("`switchcost classic PROGRAM` runs one, `classic all` makes a page of all{more}."),
        style,
    ));
    style.sealed(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::load_programs;
    use std::path::Path;
    use switchcost_model::{Disturbance, Run};

    /// What the program says of a kept run of its rows, each start disturbed or none.
    fn said(disturbed: bool) -> String {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = std::fs::File::open(top.join("data/example/answers/pingpang.jsonl")).unwrap();
        let mut run: Run = switchcost_store::import_jsonl(&mut std::io::BufReader::new(file)).unwrap().run;
        for start in run.invocations.iter_mut().filter(|_| disturbed) {
            start.disturbances = vec![Disturbance::ForeignCpu { ns: 400_000_000, of_ns: 800_000_000 }];
        }
        let catalogue = switchcost_catalogue::load(&top.join("mechanisms"), &[], &|_| Ok(())).unwrap();
        let programs = load_programs(&top.join("classic")).unwrap();
        let analysis = Analysis::new(&run, &catalogue);
        let timed = |row: &&Row<'_>| row.verdict == Verdict::Verified && !row.control && !row.variant.is_twin();
        let rows: Rows = vec![Ok((analysis.rows.iter().filter(timed).map(|row| row.index).collect(), 1000))];
        let program = programs.iter().find(|program| program.name == "pingpang").unwrap();
        let performance =
            Performance { program, arguments: &Arguments::default(), ignored: false, run: analysis, rows: &rows };
        performance_text(&performance, Some(Style::PLAIN), true)
    }

    #[test]
    fn what_disturbed_a_row_stands_in_the_answer_and_beside_it() {
        let (quiet, busy) = (said(false), said(true));
        assert!(!quiet.contains("disturbed)") && !quiet.contains("  disturbed"), "{quiet}");
        assert!(busy.lines().take(2).all(|line| line.starts_with("Here ") && line.contains(", disturbed)")), "{busy}");
        assert!(busy.lines().filter(|line| line.trim_end().ends_with("  disturbed")).count() >= 2, "{busy}");
    }
}
