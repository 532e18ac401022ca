//! The ladder as text and as Markdown.

use crate::curves::Shapes;
use crate::number::{Quantity, factor, nanoseconds, percent};
use crate::rows::{Line, lines, warnings};
use crate::text::{Style, cell, right, trimmed};
use comfy_table::{Cell, Color, Table};
use switchcost_catalogue::Catalogue;
use switchcost_model::{EndedBy, Run, Verdict, told, told_line};

/// Column titles; the figures' is the unit that all of them have, or the switch's.
fn header(lines: &[Line<'_>]) -> [String; 8] {
    ["mechanism", &common_unit(lines), "95 % interval", "min", "× cheapest", "kernel sw.", "CPUs", "verdict"]
        .map(str::to_owned)
}

fn common_unit(lines: &[Line<'_>]) -> String {
    let mut units = lines.iter().filter(|line| line.row.summary.figures.is_some()).map(unit);
    let first = units.next().unwrap_or_else(|| SWITCH.to_owned());
    if units.all(|unit| unit == first) { first } else { SWITCH.to_owned() }
}

/// Unit of most figures.
const SWITCH: &str = "ns/switch";

fn unit(line: &Line<'_>) -> String {
    format!("{}/{}", Quantity::of(line.row.variant.experiment).unit(), line.unit)
}

/// The ladder for a terminal: head, table, notes, warnings.
#[must_use]
pub fn ladder_text(run: &Run, catalogue: &Catalogue, style: Style) -> String {
    let run = &run.told();
    let lines = lines(run, catalogue);
    let mut table = style.table();
    table.set_header(header(&lines).iter().enumerate().map(|(i, text)| {
        let title = if (1..=5).contains(&i) { right(text) } else { cell(text) };
        if style.colour { title.add_attribute(comfy_table::Attribute::Bold) } else { title }
    }));
    if style.colour {
        table.enforce_styling();
    }
    fill(&mut table, &lines, style.colour);
    let shapes = Shapes::of(run, catalogue);
    let along = shapes.text(style);
    let (table, notes, tail) = (trimmed(&table), notes(&lines, style), tail(run, &lines, style));
    style.sealed(&format!("{}\n{table}{notes}{along}{tail}", head(run, style)))
}

/// The rows make a curve or a matrix, which [`ladder_text`] draws.
#[must_use]
pub fn has_shapes(run: &Run) -> bool {
    let rows = switchcost_analysis::ladder(run);
    !switchcost_analysis::curves(&rows).is_empty() || !switchcost_analysis::matrices(&rows).is_empty()
}

/// The rows as bars on a logarithmic scale.
#[must_use]
pub fn ladder_plot(run: &Run, catalogue: &Catalogue, style: Style) -> String {
    style.sealed(&crate::plot::bars(&lines(&run.told(), catalogue), style))
}

/// The ladder as a Markdown document.
#[must_use]
pub fn ladder_markdown(run: &Run, catalogue: &Catalogue) -> String {
    let run = &run.told();
    let lines = lines(run, catalogue);
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::ASCII_MARKDOWN).set_header(header(&lines));
    fill(&mut table, &lines, false);
    let style = Style::PLAIN;
    let along = Shapes::of(run, catalogue).markdown();
    let (table, notes, tail) = (trimmed(&table), notes(&lines, style), tail(run, &lines, style));
    style.sealed(&format!("{}\n{table}\n{notes}{along}{tail}", head(run, style)))
}

fn head(run: &Run, style: Style) -> String {
    let fact = |name: &str| run.machine.stable.get(name).map_or_else(|| "unknown".to_owned(), |value| told(value));
    let started = jiff::Timestamp::from_nanosecond(i128::from(run.started_unix_ns)).unwrap_or_default();
    let disturbed = run.invocations.iter().filter(|invocation| !invocation.disturbances.is_empty()).count();
    let counted = match (run.invocations.len(), disturbed) {
        (all, 0) => format!("{all} invocations"),
        (all, disturbed) => format!("{all} invocations ({disturbed} disturbed by others and repeated)"),
    };
    format!(
        "{} · {} · {} · kernel {} · {}\n{}, {}{}\n",
        style.bold(&format!("run {}", run.id)),
        started.strftime("%Y-%m-%d %H:%M UTC"),
        fact("cpu.model_name"),
        fact("kernel.release"),
        fact("hypervisor"),
        counted,
        ended(run),
        noise_floor(run),
    )
}

/// What the run's own A/A pairs say: equal things come apart by so much.
fn noise_floor(run: &Run) -> String {
    let twins: Vec<&str> = run.variants.iter().filter(|v| v.is_twin()).map(|v| v.mechanism.as_str()).collect();
    let rows = switchcost_analysis::ladder(run);
    let noise = switchcost_analysis::noise(&rows.iter().collect::<Vec<_>>());
    let meaning = "and by more than that equal things do not differ here";
    match (noise.unstable, noise.floor, twins.as_slice()) {
        (_, _, []) | (None, None, _) => String::new(),
        (Some(why), _, _) => format!("\nunstable: {why}; differences between rows mean nothing in this run"),
        (None, Some(floor), [twin]) => {
            format!("\nnoise floor {}: {twin} was measured twice, {meaning}", percent(floor))
        }
        (None, Some(_), twins) => {
            let floors: Vec<String> =
                noise.families.iter().map(|(family, floor)| format!("{family} {}", percent(*floor))).collect();
            format!("\nnoise floor {}: {} were measured twice, {meaning}", floors.join(", "), twins.join(", "))
        }
    }
}

fn ended(run: &Run) -> String {
    let target = percent(run.precision_ppm as f64 / 1e6);
    let seconds = run
        .ended_unix_ns
        .map_or(String::new(), |end| format!(" after {:.1} s", (end - run.started_unix_ns) as f64 / 1e9));
    match run.ended_by {
        EndedBy::Precision => format!("ended{seconds}: every interval is within ±{target}, or its row says why not"),
        EndedBy::Rounds => format!("ended{seconds}: the asked number of rounds is done"),
        EndedBy::Budget => format!("ended{seconds}: the time budget is used up"),
        EndedBy::Interrupt => format!("stopped by the user{seconds}"),
        EndedBy::Nothing => "ended: nothing could be measured".into(),
        EndedBy::Unfinished => "not finished".into(),
    }
}

/// What is said of a row under the table: its reason, then its notes.
fn remarks(line: &Line<'_>) -> Vec<String> {
    let reason = (!line.row.reason.is_empty()).then(|| format!("{}: {}", line.row.verdict, line.row.reason));
    reason.into_iter().chain(line.notes.iter().cloned()).collect()
}

/// The different remarks of all rows; a row's mark is the place of its own in this list.
fn footnotes(lines: &[Line<'_>]) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for remarks in lines.iter().map(remarks) {
        if !remarks.is_empty() && !all.contains(&remarks) {
            all.push(remarks);
        }
    }
    all
}

fn fill(table: &mut Table, lines: &[Line<'_>], colour: bool) {
    let footnotes = footnotes(lines);
    let common = common_unit(lines);
    for line in lines {
        let mut label = line.label.clone();
        if let Some(place) = footnotes.iter().position(|footnote| *footnote == remarks(line)) {
            label.push_str(&format!(" [{}]", place + 1));
        }
        let mut cells = vec![cell(label)];
        cells.extend(figures(line, &common));
        cells.push(cell(cpus(line)));
        let verdict = cell(line.row.verdict);
        cells.push(if colour { verdict.fg(tint(line.row.verdict)) } else { verdict });
        table.add_row(cells);
    }
}

fn tint(verdict: Verdict) -> Color {
    match verdict {
        Verdict::Verified => Color::Green,
        Verdict::Contradicted | Verdict::Broken => Color::Red,
        Verdict::Unobservable | Verdict::Unsupported | Verdict::Unmeasured => Color::Yellow,
    }
}

fn figures(line: &Line<'_>, common: &str) -> Vec<Cell> {
    let Some(figures) = &line.row.summary.figures else { return vec![right("–"); 5] };
    let interval = figures
        .interval
        .map_or("–".into(), |interval| format!("{} – {}", nanoseconds(interval.low), nanoseconds(interval.high)));
    let kernel = line.row.summary.kernel.map_or("–".into(), |kernel| match kernel.per_unit {
        rate if rate < 0.0005 => "0".into(),
        rate => format!("{rate:.3}"),
    });
    let unit = match unit(line) {
        own if own == common => String::new(),
        own => format!(" {}", own.trim_start_matches("ns")),
    };
    vec![
        right(format!("{}{unit}", nanoseconds(figures.median))),
        right(interval),
        right(nanoseconds(figures.min)),
        right(line.times_cheapest.map_or("–".into(), factor)),
        right(kernel),
    ]
}

fn cpus(line: &Line<'_>) -> String {
    let list: Vec<String> = line.row.summary.cpus.iter().map(u32::to_string).collect();
    if list.is_empty() { "–".into() } else { list.join(",") }
}

/// Notes under the table; equal ones are said once.
fn notes(lines: &[Line<'_>], style: Style) -> String {
    let mut out = String::new();
    for (place, remarks) in footnotes(lines).iter().enumerate() {
        for (i, remark) in remarks.iter().enumerate() {
            let mark = if i == 0 { format!("[{}]", place + 1) } else { String::new() };
            out.push_str(&wrapped(&format!("{mark:<5}"), remark, style));
        }
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

fn tail(run: &Run, lines: &[Line<'_>], style: Style) -> String {
    let warnings = warnings(run, lines);
    if warnings.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", style.bold("Warnings"));
    for warning in warnings {
        out.push_str(&wrapped("  - ", &warning, style));
    }
    out
}

/// Wraps text after a lead, further lines indented by the lead's width.
pub(crate) fn wrapped(lead: &str, text: &str, style: Style) -> String {
    let indent = " ".repeat(lead.chars().count());
    let width = style.width.map_or(usize::MAX, usize::from).max(40);
    let mut out = lead.to_owned();
    let mut column = indent.len();
    for (i, word) in told_line(text).split_whitespace().enumerate() {
        let length = word.chars().count();
        if i > 0 && column + 1 + length > width {
            out.push('\n');
            out.push_str(&indent);
            column = indent.len();
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
    out
}
