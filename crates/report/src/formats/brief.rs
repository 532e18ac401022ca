//! The answer first: the families beside one another, a line per row with its bar, then only what changes how these figures are read.

mod answer;
mod scale;
mod spread;

use self::scale::Scale;
use self::spread::Spread;
use super::Format;
use super::table::{ended, ladder_text, slowed_by};
use crate::columns::{Brief, COLUMNS};
use crate::curves;
use crate::text::{Detail, Style, budget, machine_words, wrapped};
use switchcost_analysis::number::{counted, factor, percent};
use switchcost_analysis::{Analysis, At, Figures, Lacking, Quantity, Row, resume_command, run_command, time_texts};
use switchcost_catalogue::grammar::Pattern;
use switchcost_model::{EndedBy, Experiment, Reason, Severity, Timing, Utc, Verdict, harmless_line};

/// Columns where the width is not known.
const WIDTH: u16 = 98;
/// Width of what is said at a row's end, at least and at most; what is longer stands on a line of its own.
const ROW_END: (usize, usize) = (22, 30);
/// Longest name on one line; beside percentiles on a narrow terminal it is shorter.
const NAME: usize = 38;
/// Rows of a section from which its families are set apart.
const LONG: usize = 8;
/// Rows without an interval that are named.
const FEW: usize = 4;

/// The ladder for a terminal.
pub struct Terminal;

impl Format for Terminal {
    fn name(&self) -> &'static str {
        "table"
    }

    fn purpose(&self) -> &'static str {
        "For people at a terminal"
    }

    fn write(&self, analysis: &Analysis<'_>, style: Style) -> Result<String, String> {
        Ok(match style.detail {
            Detail::Brief => text(analysis, style),
            Detail::Columns | Detail::Notes => ladder_text(analysis, style) + &limits(analysis, style),
        })
    }
}

fn text(analysis: &Analysis<'_>, style: Style) -> String {
    let style = Style { width: style.width.or(Some(WIDTH)), ..style };
    let view = View::new(analysis, style);
    let curves = curves::brief(analysis, style);
    let parts = [view.head(), view.families(), curves, view.table(), view.late(), view.foot()];
    style.sealed(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n"))
}

/// What the brief form has in few words.
fn limits(analysis: &Analysis<'_>, style: Style) -> String {
    let limits = View::new(analysis, style).limits();
    let lines: String = limits.iter().map(|(_, whole)| wrapped("  ", whole, style)).collect();
    if lines.is_empty() { lines } else { style.sealed(&format!("\n{lines}")) }
}

struct View<'a, 'r> {
    analysis: &'a Analysis<'r>,
    style: Style,
    rows: Vec<&'a Row<'r>>,
    hidden: usize,
    /// Rows without a line, because there was no time for any of them.
    lacking: Option<Lacking<'a, 'r>>,
    /// Some row has a note that changes how its figure is read.
    starred: bool,
    scale: Option<Scale>,
    name: usize,
}

impl<'a, 'r> View<'a, 'r> {
    fn new(analysis: &'a Analysis<'r>, style: Style) -> Self {
        let all: Vec<&Row<'r>> = analysis.shown().collect();
        // Controls that were measured for the sake of others are not what was asked for.
        let patterns = analysis.run.request.patterns.iter();
        let patterns: Vec<Pattern<'_>> = patterns.filter_map(|text| Pattern::parse(text).ok()).collect();
        let only_controls = all.iter().all(|row| row.control);
        let asked = |row: &Row<'_>| patterns.iter().any(|pattern| pattern.names_mechanism(&row.variant.mechanism));
        let keeps =
            |row: &&Row<'_>| !row.control || only_controls || asked(row) || row.verdict == Verdict::Contradicted;
        let mut rows: Vec<&Row<'r>> = all.iter().copied().filter(keeps).collect();
        let hidden = all.len() - rows.len();
        let lacking = Lacking::of(analysis).filter(|lacking| lacking.rows.len() > FEW);
        let late = |row: &Row<'_>| lacking.iter().any(|own| own.rows.iter().any(|late| late.index == row.index));
        rows.retain(|row| !late(row));
        let starred = rows.iter().any(|row| !row.caveats.is_empty());
        let narrow = style.width < Some(WIDTH) && rows.iter().any(|row| row.variant.each_unit());
        let most = NAME - if narrow { 8 } else { 0 };
        let names = rows.iter().flat_map(|row| [name(row), section(row)]);
        let longest = names.map(|name| name.chars().count()).max().unwrap_or(0).clamp(14, most);
        let mut view = Self { analysis, style, hidden, rows, lacking, starred, scale: None, name: longest };
        let ends = || view.rows.iter().map(|row| view.row_end(row).chars().count()).max().unwrap_or(0);
        let mark = if view.starred { 2 } else { 0 };
        let end = if view.wide() { ends().clamp(ROW_END.0, ROW_END.1) } else { mark };
        let room = usize::from(style.width.unwrap_or(WIDTH))
            .saturating_sub(longest + figures(|_| String::new()).chars().count() + 5 + end);
        view.scale = Scale::new(&view.rows, room);
        view
    }

    fn head(&self) -> String {
        let run = self.analysis.run;
        let started = Utc::new(run.started_unix_ns);
        let name = format!("run {}", run.id);
        let first = format!("{name} · {}", machine_words(&run.machine));
        let disturbed = run.invocations.iter().filter(|invocation| !invocation.disturbances.is_empty()).count();
        let disturbed = if disturbed == 0 { String::new() } else { format!(" ({disturbed} disturbed)") };
        let starts = counted(run.invocations.len(), "start");
        let (date, minute) = (started.date(), started.minute());
        let second = format!("{date} {minute} UTC, {starts}{disturbed}, {}", ended(run));
        let folded = |line: &str| wrapped("", line, self.style);
        // Bold last: its marks take no room.
        folded(&first).replacen(&name, &self.style.bold(&name), 1) + &folded(&second)
    }

    fn table(&self) -> String {
        let mut out = String::new();
        let mut sections: Vec<(String, Vec<&Row<'r>>)> = Vec::new();
        // The rows of curves stand with them, one line a point.
        let alone = |row: &&&Row<'_>| !self.analysis.curves.iter().any(|curve| curve.has(row.index));
        for row in self.rows.iter().filter(alone) {
            let title = section(row);
            match sections.iter_mut().find(|(known, _)| *known == title) {
                Some((_, rows)) => rows.push(row),
                None => sections.push((title, vec![row])),
            }
        }
        for (place, (title, rows)) in sections.iter().enumerate() {
            let spread = Spread::new(rows, self.name, usize::from(self.style.width.unwrap_or(WIDTH)));
            let title =
                if place == 0 || spread.is_some() { self.header(title, spread.as_ref()) } else { format!("  {title}") };
            let gap = if place == 0 { "" } else { "\n" };
            out += &format!("{gap}{}\n", title.trim_end());
            let mut family = None;
            for row in rows {
                let own = row.variant.mechanism.family();
                if rows.len() >= LONG && family.is_some_and(|family| family != own) {
                    out.push('\n');
                }
                family = Some(own);
                out += &self.line(row, spread.as_ref());
            }
        }
        let is = |row: &&&Row<'_>| !row.variant.each_unit() && !row.short.is_empty();
        if !self.wide() && self.rows.iter().filter(alone).any(|row| is(&row)) {
            out += &format!("  no room for: what each row is; a terminal of {WIDTH} columns has it\n");
        }
        out
    }

    fn header(&self, title: &str, spread: Option<&Spread>) -> String {
        let titles = || {
            let reference = self.analysis.reference();
            let axis = self.scale.as_ref().map_or(String::new(), Scale::axis);
            format!("{} {axis}", figures(|brief| brief.title(reference)))
        };
        let name = self.name;
        let title = if title.chars().count() > name { format!("{title}\n  {:name$}", "") } else { title.to_owned() };
        let line = format!("  {title:<name$} {}", spread.map_or_else(titles, Spread::header));
        if self.style.colour { format!("\x1b[1m{line}\x1b[0m") } else { line }
    }

    fn line(&self, row: &Row<'_>, spread: Option<&Spread>) -> String {
        let bar = || (self.scale.as_ref().map_or(String::new(), |scale| scale.bar(row)), None);
        let (bar, below) = spread.map_or_else(bar, |spread| spread.drawn(row));
        let mut lines = folded(&name(row), self.name).into_iter();
        let first = lines.next().unwrap_or_default();
        let cells = || figures(|brief| (brief.cell)(row).unwrap_or_else(|| "–".to_owned()));
        let cells = spread.map_or_else(cells, |spread| spread.cells(row));
        let line = format!("  {first:<width$} {cells} {bar}", width = self.name);
        let end = self.row_end(row);
        let room = usize::from(self.style.width.unwrap_or(WIDTH)).saturating_sub(line.chars().count() + 1);
        let fits = end.chars().count() <= room;
        let beside = if fits { format!("{line} {end}") } else { line };
        let mut out = format!("{}\n", beside.trim_end());
        for more in lines {
            out += &format!("    {more}\n");
        }
        let rest = [below, (!fits).then_some(end)].into_iter().flatten().collect::<Vec<_>>().join("  ");
        if !rest.is_empty() {
            out += &format!("    {rest}\n");
        }
        out
    }

    /// What stands at a row's end: a verdict that it is not verified, its kinds, what it is, and a mark if a note changes how it is read.
    fn row_end(&self, row: &Row<'_>) -> String {
        let mut words = Vec::new();
        let verdict = row.verdict.to_string();
        match row.verdict {
            Verdict::Verified => {}
            Verdict::Contradicted | Verdict::Broken if self.style.colour => {
                words.push(format!("\x1b[31m{verdict}\x1b[0m"))
            }
            _ => words.push(verdict),
        }
        if let [_, others @ ..] = row.summary.modes.as_slice()
            && !others.is_empty()
        {
            let others: Vec<String> = others
                .iter()
                .map(|mode| format!("{} ({})", row.quantity.amount(mode.value), percent(mode.weight)))
                .collect();
            words.push(format!("or {}", others.join(", or ")));
        } else if row.quantity.exact
            && let Some(equal) = row.equal_starts()
        {
            let starts = row.summary.invocation_medians.len();
            words.push(format!("{}{equal} of {starts}", if equal == starts { "exact, " } else { "equal in " }));
        } else if words.is_empty() && row.median().is_some() && row.disturbed().is_some() {
            words.push("disturbed".to_owned());
        } else if words.is_empty()
            && let Some((least, most)) = row.range()
        {
            words.push(format!("from {} to {}", row.quantity.amount(least), row.quantity.amount(most)));
        } else if words.is_empty()
            && let Some(measured) = row.beside()
        {
            words.push(format!("{} as measured", row.quantity.amount(measured)));
        } else if words.is_empty() && self.wide() && !row.variant.each_unit() {
            words.push(row.short.clone());
        }
        if row.unit != row.variant.experiment.unit {
            words.insert(0, format!("per {}", row.unit));
        }
        if !row.caveats.is_empty() {
            words.push("*".to_owned());
        }
        words.retain(|word| !word.is_empty());
        words.join(" ")
    }

    /// There is room for what a row is.
    fn wide(&self) -> bool {
        self.style.width >= Some(WIDTH)
    }

    /// What passed, what limits trust, what to ask next: a line of each.
    fn foot(&self) -> String {
        let mut out = self.verdicts();
        let mut say = |text: &str| out += &wrapped("  ", text, self.style);
        if let Some(command) = resume_command(self.analysis.run) {
            say(&format!("to continue: {command}"));
        }
        if self.rows.iter().all(|row| row.median().is_none()) {
            return out;
        }
        let unstable = self.analysis.noise.unstable.as_ref();
        let unstable = unstable.map(|_| "unstable: differences between rows mean nothing in this run".to_owned());
        let mut limits: Vec<String> = unstable.into_iter().collect();
        limits.extend(self.limits().into_iter().map(|(short, _)| short));
        limits.extend(slowed_by(self.analysis));
        limits.extend(self.doctor());
        if !limits.is_empty() {
            let more = |left| if left == 0 { String::new() } else { format!("; {left} more by show -v") };
            say(&self.fitted(&limits, "; ", more));
        }
        let hidden = if self.hidden == 0 { String::new() } else { format!(" (+{})", counted(self.hidden, "row")) };
        let mut next = vec![format!("next: switchcost show -v{hidden}")];
        next.extend(self.analysis.reference().map(|row| format!("explain {}", row.label)));
        next.push("report --open".to_owned());
        let starred = if self.starred { "; * by show --notes" } else { "" };
        say(&self.fitted(&next, ", ", |_| starred.to_owned()));
        out
    }

    /// Clauses on one line, and what ends it if so many have no room.
    fn fitted(&self, clauses: &[String], between: &str, end: impl Fn(usize) -> String) -> String {
        let room = usize::from(self.style.width.unwrap_or(WIDTH).max(WIDTH)) - 2;
        let line = |kept: &[String]| kept.join(between) + &end(clauses.len() - kept.len());
        let fits = |kept: &[String]| line(kept).chars().count() <= room;
        let mut kept = Vec::new();
        for clause in clauses.iter().filter(|_| !fits(clauses)) {
            kept.push(clause.clone());
            if kept.len() > 1 && !fits(&kept) {
                kept.pop();
            }
        }
        line(if kept.is_empty() { clauses } else { &kept })
    }

    /// What limits trust in single rows, the gravest first: in few words, and whole.
    fn limits(&self) -> Vec<(String, String)> {
        let slow = self.slow_clock().map(|text| (text.clone(), text));
        let found =
            [slow, self.unsettled(), self.without_interval(), self.imprecise(), self.wander(), self.uncarried()];
        found.into_iter().flatten().collect()
    }

    /// That the CPU ran below the clock that it can have, whatever its best in this run was.
    fn slow_clock(&self) -> Option<String> {
        let clock = self.analysis.clock?;
        let short = clock.shortfall()?;
        let (kept, of, times) = (clock.kept, short.of, factor(short.times));
        let source = short.source();
        Some(format!("the CPU ran at {kept:.2} GHz, {of:.2} {source}: figures may be {times} times too high"))
    }

    /// What the machine check warns of, as the command that says it.
    fn doctor(&self) -> Option<String> {
        let findings = &self.analysis.run.machine.findings;
        let warnings = findings.iter().filter(|finding| finding.severity == Severity::Warning).count();
        (warnings > 0).then(|| format!("{} by doctor", counted(warnings, "warning")))
    }

    /// What there was no time for, and how much would be enough.
    fn late(&self) -> String {
        let Some(Lacking { rows, whole, before, enough }) = &self.lacking else { return String::new() };
        let run = self.analysis.run;
        let [time, option] = time_texts(*whole);
        let [budget, own] = time_texts(run.budget_ms as f64 / 1e3);
        let all = run.variants.len() - run.not_run.len();
        let nothing = self.rows.iter().all(|row| row.median().is_none());
        let what = if nothing {
            "Nothing measured".to_owned()
        } else {
            format!("No time left for {}", counted(rows.len(), "row"))
        };
        let mut out = wrapped(
            "  ",
            &format!(
                "{what}: all {all} need about {time} here, and {budget} were allowed ({} went to start-up).",
                time_texts(*before)[0]
            ),
            self.style,
        );
        if nothing && (1..rows.len()).contains(enough) {
            let command = run_command(rows.iter().take(*enough).map(|row| &row.judged));
            let of = counted(*enough, "row");
            out += &wrapped("  ", &format!("Enough for {of}: {command} --budget {own}"), self.style);
        }
        out + &wrapped("  ", &format!("For all of them: the same command with --budget {option}"), self.style)
    }

    /// How many rows are verified, and why the others are not.
    fn verdicts(&self) -> String {
        let sound = self.rows.iter().filter(|row| row.verdict == Verdict::Verified).count();
        let counted = match (sound, self.rows.len()) {
            (0, 0) => return String::new(),
            (1, 1) => "it passed its checks (order, kernel switches, CPUs)".to_owned(),
            (sound, all) if sound == all => {
                format!("all {all} rows passed their checks (order, kernel switches, CPUs)")
            }
            (_, 1) => "it did not pass its checks".to_owned(),
            (sound, all) => format!("{sound} of {all} rows passed their checks"),
        };
        let mut out = wrapped("  ", &format!("{counted}{}", self.noise()), self.style);
        let mut groups: Vec<(Verdict, &Option<Reason>, Vec<&str>)> = Vec::new();
        for row in self.rows.iter().filter(|row| row.verdict != Verdict::Verified) {
            match groups.iter_mut().find(|(verdict, reason, _)| *verdict == row.verdict && **reason == row.reason) {
                Some((_, _, names)) => names.push(&row.label),
                None => groups.push((row.verdict, &row.reason, vec![&row.label])),
            }
        }
        for (verdict, reason, names) in groups {
            let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            out += &wrapped("  ", &format!("{verdict}: {}{reason}", names.join(", ")), self.style);
            if verdict == Verdict::Contradicted {
                out += &wrapped("  ", "Do not use that figure; report it with `switchcost export`.", self.style);
            }
        }
        out
    }

    /// Rows that somebody else was beside too often.
    fn unsettled(&self) -> Option<(String, String)> {
        let measured = || self.rows.iter().filter(|row| row.median().is_some());
        let disturbed = measured().filter(|row| row.disturbed().is_some()).count();
        (disturbed > 0).then(|| {
            let all = counted(measured().count(), "row");
            let (were, their) = if disturbed == 1 { ("was", "its figure") } else { ("were", "their figures") };
            let short = format!("{disturbed} of {all} disturbed, maybe too high");
            (short, format!("{disturbed} of {all} {were} disturbed throughout: {their} may be too high; measure again when nothing else runs here or on the host"))
        })
    }

    /// The percentile that no start has units enough for.
    fn uncarried(&self) -> Option<(String, String)> {
        let measured: Vec<_> =
            self.rows.iter().filter(|row| row.variant.each_unit() && row.median().is_some()).collect();
        let lacking =
            measured.iter().all(|row| row.summary.figures.as_ref().is_some_and(|figures| figures.p999.is_none()));
        let whole = || format!("p99.9 is left out: {}", At::Percentile(0.999).needs_units());
        (lacking && !measured.is_empty()).then(|| ("no p99.9: too few units".to_owned(), whole()))
    }

    /// What equal things differed by in this run.
    fn noise(&self) -> String {
        let noise = &self.analysis.noise;
        let up_to = if noise.families.len() > 1 { "up to " } else { "" };
        let known = noise.floor().filter(|_| noise.unstable.is_none() && !noise.families.is_empty());
        known.map_or(String::new(), |floor| format!("; noise floor {up_to}{}", percent(floor)))
    }

    /// Rows of which one number is the figure, and all that have one.
    fn single(&self) -> (Vec<(&'a Row<'r>, &Figures)>, usize) {
        let figures = || self.rows.iter().filter_map(|row| Some((*row, row.summary.figures.as_ref()?)));
        (figures().filter(|(row, _)| row.summary.modes.is_empty()).collect(), figures().count())
    }

    /// Rows whose interval is wider than was asked for.
    fn imprecise(&self) -> Option<(String, String)> {
        let run = self.analysis.run;
        let target = run.precision_ppm as f64 / 1e6;
        let (single, all) = self.single();
        let wide =
            single.iter().filter(|(_, figures)| figures.half_width().is_some_and(|width| width > target)).count();
        let budget = budget(run.budget_ms.saturating_mul(2));
        let (short, cure) = match run.ended_by {
            EndedBy::Budget => (format!(" (--budget {budget})"), format!(": --budget {budget} narrows them")),
            EndedBy::Rounds => (String::new(), ": more --rounds narrow them".to_owned()),
            _ => Default::default(),
        };
        let (all, target) = (counted(all, "interval"), percent(target));
        let [exceed, are] = if wide == 1 { ["exceeds", "is"] } else { ["exceed", "are"] };
        let short = format!("{wide} of {all} {exceed} ±{target}{short}");
        (wide > 0).then(|| (short, format!("{wide} of {all} {are} wider than ±{target}{cure}")))
    }

    /// Rows with a range and without an interval.
    fn wander(&self) -> Option<(String, String)> {
        let (single, all) = self.single();
        let ranges = single.iter().filter(|(row, figures)| figures.interval.is_none() && row.range().is_some()).count();
        let (all, has) = (counted(all, "row"), if ranges == 1 { "has" } else { "have" });
        let short = format!("{ranges} of {all} {has} a range and no interval");
        let whole = format!("{short}, since each start is like the one before: measure again at another time");
        (ranges > 0).then_some((short, whole))
    }

    /// Rows with fewer starts than an interval needs, and the command that measures them by themselves.
    fn without_interval(&self) -> Option<(String, String)> {
        const WHY: &str = "fewer than the 6 starts that an interval needs";
        let open = |row: &Row<'_>, figures: &Figures| figures.interval.is_none() && row.range().is_none();
        let lacks = |row: &Row<'_>, figures: &Figures| open(row, figures) && !row.quantity.exact;
        let (single, _) = self.single();
        let rows: Vec<&Row<'_>> =
            single.into_iter().filter(|(row, figures)| lacks(row, figures)).map(|(row, _)| row).collect();
        let short = format!("{} with fewer than 6 starts", counted(rows.len(), "row"));
        let whole = match rows.len() {
            0 => return None,
            many if many > FEW || self.analysis.run.ended_by == EndedBy::Rounds => format!("rows with {WHY}: {many}"),
            _ => {
                let takes =
                    |row: &&Row<'_>| row.start_takes().map(|time| format!(" ({} each)", Quantity::TIME.amount(time)));
                let names = rows.iter().map(|row| format!("{}{}", row.label, takes(row).unwrap_or_default()));
                let names = names.collect::<Vec<_>>().join(", ");
                format!("{WHY}: {names}; by themselves: {}", run_command(rows.iter().map(|row| &row.judged)))
            }
        };
        Some((short, whole))
    }
}

/// The figures of a line, or their titles, in columns.
fn figures(cell: impl Fn(&Brief) -> String) -> String {
    let columns = COLUMNS.iter().filter_map(|column| column.brief.as_ref());
    columns.map(|brief| format!("{:>width$}", cell(brief), width = brief.width)).collect::<Vec<_>>().join(" ")
}

fn section(row: &Row<'_>) -> String {
    let place = row.variant.placement.title();
    let other = Some(row.variant.experiment).filter(|experiment| *experiment != Experiment::usual());
    let experiment = other.map_or_else(String::new, |other| format!("{other}, "));
    let each = if row.variant.timing == Timing::Each { ", each switch" } else { "" };
    format!("{experiment}{place}{each}")
}

/// The row's label without what its section's title says.
fn name(row: &Row<'_>) -> String {
    let shown = [row.variant.placement.to_string(), row.variant.experiment.to_string()];
    row.label.split(' ').filter(|word| !shown.iter().any(|shown| shown == word)).collect::<Vec<_>>().join(" ")
}

/// A name on lines of at most so many characters, broken at blanks.
fn folded(name: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in harmless_line(name).split(' ') {
        let Some(last) = lines.last_mut() else { break };
        if last.is_empty() {
            word.clone_into(last);
        } else if last.chars().count() + 1 + word.chars().count() <= most {
            *last = format!("{last} {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
