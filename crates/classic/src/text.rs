//! A program of a write-up: what it prints of each row, beside our figure for the same work.

use crate::programs::{Arguments, Printed, Program};
use switchcost_analysis::number::{grouped, nanoseconds};
use switchcost_analysis::{Analysis, Row};
use switchcost_report::text::{Style, cell, drawn, markdown_table, right, wrapped};
use switchcost_report::{COLUMNS, FORMATS, Shown, common_measure, head};

/// The rows of a program in its run, each with the units that the original carries out; or why there is none.
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
        let costs = match summary.modes.as_slice() {
            [] => vec![figures.median],
            modes => modes.iter().map(|mode| mode.value).collect(),
        };
        Some(costs.into_iter().map(|ns| nanoseconds(of(ns))).collect::<Vec<_>>().join(" | "))
    };
    let reading = figures.reading.as_ref();
    let transcript = || row.starts.iter().find_map(|start| start.transcript.plan.as_ref().map(|_| &start.transcript));
    match value {
        Printed::UnitNs => each(&|ns| ns),
        Printed::WorkNs => each(&|ns| ns * work),
        Printed::WorkMs => each(&|ns| ns * work / 1e6),
        Printed::PerSecond => each(&|ns| 1e9 / ns),
        Printed::FastestUnitUs => Some(nanoseconds(figures.min / 1e3)),
        Printed::FastestBatchUs => {
            let units = transcript()?.plan.as_ref()?.batch_units;
            Some(nanoseconds(figures.min * units as f64 / 1e3))
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

/// Columns of every report that stand beside those of the program.
fn ours() -> impl Iterator<Item = &'static Shown> {
    let chosen = |name| ["median", "low", "verdict"].contains(&name);
    COLUMNS.iter().filter(move |column| chosen(column.name)).filter_map(|column| column.shown.as_ref())
}

impl Performance<'_> {
    fn measured(&self) -> impl Iterator<Item = (&Row<'_>, u64)> {
        let found = self.rows.iter().filter_map(|rows| rows.as_ref().ok());
        found.flat_map(|(rows, work)| rows.iter().map(|&row| (&self.run.rows[row], *work)))
    }

    /// `style`: for a terminal; None: for a Markdown page.
    fn table(&self, style: Option<Style>) -> String {
        let mut table = style.map_or_else(markdown_table, Style::table);
        let measure = common_measure(&self.run);
        let titles = ours().map(|column| cell(format!("ours: {}", column.title(&measure))));
        let headings = self.program.columns.iter().map(|column| right(&column.heading));
        table.set_header([cell("row")].into_iter().chain(headings).chain(titles));
        for (row, work) in self.measured() {
            let values = self.program.columns.iter().map(|column| printed(row, work, column.value));
            let values = values.map(|value| right(value.unwrap_or_else(|| "–".into())));
            let ours = ours().map(|column| cell(column.cell(row, &measure)));
            table.add_row([cell(&row.label)].into_iter().chain(values).chain(ours));
        }
        drawn(&mut table)
    }

    fn command(&self) -> String {
        let values = self.program.arguments.iter().filter_map(|argument| self.arguments.get(&argument.name));
        values.fold(self.program.name.clone(), |text, value| format!("{text} {value}"))
    }

    /// Each list under the table with its heading; empty ones are left out.
    fn lists(&self) -> Vec<(&'static str, Vec<String>)> {
        let reason =
            |row: &Row<'_>| row.reason.as_ref().map(|reason| format!("{} is {}: {reason}", row.label, row.verdict));
        let absent = self.rows.iter().filter_map(|rows| rows.as_ref().err().cloned());
        let unverified = self.measured().filter_map(|(row, _)| reason(row)).chain(absent).collect();
        let ignored = self.ignored.then(|| "The arguments were ignored, as the original ignores them.".to_owned());
        let differences = self.program.differences.iter().cloned().chain(ignored).collect();
        let known = self.program.known.iter().map(|known| format!("{}: {}", known.on, known.printed)).collect();
        let all = [
            ("Not verified", unverified),
            ("Why the original differs", differences),
            ("What the original has printed", known),
        ];
        all.into_iter().filter(|(_, items): &(_, Vec<String>)| !items.is_empty()).collect()
    }
}

/// For a terminal of this style; None: a section of a Markdown page.
pub fn performance_text(performance: &Performance<'_>, style: Option<Style>) -> String {
    let (command, program) = (performance.command(), performance.program);
    let plain = style.unwrap_or(Style::PLAIN);
    let mut text = match style {
        Some(style) => format!("{}: {} ({})\n", style.bold(&command), program.title, program.source),
        None => format!("## `{command}`\n\n{} ({}).\n\n", program.title, program.source),
    };
    text.push_str(&format!("{}\n{}", head(&performance.run, plain), performance.table(style)));
    for (heading, items) in performance.lists() {
        match style {
            Some(style) => text.push_str(&format!("\n{}\n", style.bold(heading))),
            None => text.push_str(&format!("\n**{heading}**\n\n")),
        }
        let lead = if style.is_some() { "  - " } else { "- " };
        items.iter().for_each(|item| text.push_str(&wrapped(lead, item, plain)));
    }
    plain.sealed(&text)
}

/// The run as JSON.
pub fn performance_json(performance: &Performance<'_>) -> Result<String, String> {
    let json = FORMATS.iter().find(|format| format.name() == "json").ok_or("there is no JSON")?;
    json.write(&performance.run, Style::PLAIN)
}

/// The list of programs.
pub fn programs_text(programs: &[Program], style: Style) -> String {
    let mut text = String::new();
    for program in programs {
        text.push_str(&format!("{}  {} ({})\n", style.bold(&program.name), program.title, program.source));
        let mut table = style.table();
        table.add_row(["   ", &format!("{}; at most {} s", program.explains, program.budget_s)]);
        for argument in &program.arguments {
            let line = format!("{}: {} to {}, default {}", argument.name, argument.min, argument.max, argument.default);
            table.add_row(["   ", &line]);
        }
        text.push_str(&drawn(&mut table));
        text.push('\n');
    }
    text.push_str("switchcost classic PROGRAM [ARGUMENTS] runs one of them, switchcost classic all makes one Markdown page of all.\n");
    style.sealed(&text)
}
