//! `list`, `history` and `doctor`.

use crate::answer::{Cell, Section, Tint};
use crate::compare::published_figure;
use crate::text::{Style, moment, wrapped, wrapped_names};
use schemars::JsonSchema;
use serde::Serialize;
use switchcost_catalogue::Published;
use switchcost_model::{Finding, FindingText, Severity, harmless, harmless_line};

/// A mechanism as `list` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedMechanism {
    /// `family/name`.
    pub id: String,
    /// Its family.
    pub family: String,
    /// One line.
    pub title: String,
    /// A few words for what switches.
    pub short: String,
    /// What else it is called, its language first.
    pub tags: Vec<String>,
    /// No switch takes place.
    pub control: bool,
    /// Experiments it has.
    pub experiments: Vec<String>,
    /// Placements that make sense, default first.
    pub placements: Vec<String>,
    /// Parameters: name, what it may be, default.
    pub parameters: Vec<ListedParameter>,
    /// Probes that implement it, or would.
    pub probes: Vec<ListedProbe>,
}

impl ListedMechanism {
    fn runs_here(&self) -> bool {
        self.probes.iter().any(|probe| probe.available)
    }
}

/// A parameter as `list` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedParameter {
    /// Name.
    pub name: String,
    /// What it may be.
    pub values: String,
    /// Default.
    pub default: String,
    /// One sentence.
    pub help: String,
    /// Experiments that it changes; for any other it is refused.
    pub experiments: Vec<String>,
}

/// A probe as `list` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedProbe {
    /// Id.
    pub id: String,
    /// What runs it: a version of a language's runtime.
    pub runtime: Option<String>,
    /// Runs here.
    pub available: bool,
    /// Why not.
    pub reason: Option<String>,
    /// What to install.
    pub install: Option<String>,
}

#[derive(Serialize)]
struct ListDocument<'a> {
    format: u32,
    mechanisms: &'a [ListedMechanism],
    remarks: &'a [String],
}

/// `list --format json`.
#[must_use]
pub fn list_json(mechanisms: &[ListedMechanism], remarks: &[String]) -> String {
    let document = ListDocument { format: 1, mechanisms, remarks };
    crate::text::json(&document)
}

#[derive(Serialize)]
struct PublishedDocument<'a> {
    format: u32,
    published: &'a [Published],
}

/// `list published --format json`.
#[must_use]
pub fn list_published_json(values: &[Published]) -> String {
    crate::text::json(&PublishedDocument { format: 1, published: values })
}

/// `list published`: figures of others by their names, and what of ours is nearest.
#[must_use]
pub fn list_published(values: &[Published], style: Style) -> String {
    let mut table = Section::new([("published:NAME", 0), ("figure", 0), ("year", 2), ("nearest", 1), ("what", 1)]);
    for value in values {
        let year = value.year.map_or(Cell::Empty, |year| Cell::Words(year.to_string()));
        let nearest = value.mechanism.as_deref().unwrap_or_default().into();
        let figure = Cell::Words(format!("{} {}", published_figure(value), value.unit));
        table.rows.push(vec![Cell::Name(value.name.clone()), figure, year, nearest, value.what.as_str().into()]);
    }
    let cure = "`switchcost compare ROW published:NAME` sets one beside a row of yours, with its machine, source and what differs";
    style.sealed(&format!("{}{}", table.terminal(style), wrapped("  ", cure, style)))
}

/// Reasons why something cannot run here that the overview gives; the others are counted.
const REASONS: usize = 4;

/// `list` for a terminal: what can run here by family, to copy, and why the others cannot.
#[must_use]
pub fn list_overview(
    mechanisms: &[ListedMechanism],
    families: &[(String, String)],
    remarks: &[String],
    style: Style,
) -> String {
    let (controls, switches): (Vec<_>, Vec<_>) = mechanisms.iter().partition(|mechanism| mechanism.control);
    let here = |of: &[&ListedMechanism]| of.iter().filter(|mechanism| mechanism.runs_here()).count();
    let answer = format!("{} of {} mechanisms run here. To measure one:", here(&switches), switches.len());
    let mut out = style.headline(&format!("{answer} switchcost run NAME"));
    for (family, title) in families {
        let mine = switches.iter().filter(|mechanism| mechanism.family == *family && mechanism.runs_here());
        let names: Vec<&str> = mine.map(|mechanism| mechanism.id.as_str()).collect();
        if !names.is_empty() {
            out.push_str(&format!("{}\n", style.bold(title)));
            out.push_str(&wrapped_names("  ", &names, style));
        }
    }
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for mechanism in switches.iter().filter(|mechanism| !mechanism.runs_here()) {
        let install = mechanism.probes.iter().find_map(|probe| probe.install.as_ref());
        let why = install.map_or_else(|| missing(mechanism), |install| format!("needs {install}"));
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(&mechanism.id),
            None => reasons.push((why, vec![&mechanism.id])),
        }
    }
    reasons.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let more: usize = reasons.iter().skip(REASONS).map(|(_, names)| names.len()).sum();
    out.push('\n');
    for (why, names) in reasons.iter().take(REASONS) {
        out.push_str(&one_line(&format!("  Not here: {}: {why}", few(names)), style));
    }
    if more > 0 {
        out.push_str(&format!("  Not here: {more} more\n"));
    }
    if !reasons.is_empty() {
        out.push_str("  `switchcost list NAME` says all that is missing\n");
    }
    let all = format!("{} of {} controls run here and are measured beside the others", here(&controls), controls.len());
    if !controls.is_empty() {
        out.push_str(&wrapped("  ", &format!("{all}: switchcost list control"), style));
    }
    out.push_str(&wrapped("  ", "What each is, its language and builds: switchcost list FAMILY, or -v for all", style));
    remarks.iter().for_each(|remark| out.push_str(&wrapped("  - ", &harmless(remark), style)));
    style.sealed(&out)
}

/// At most three names.
fn few(names: &[&str]) -> String {
    match names {
        [first, second, _, _, ..] => format!("{first}, {second} and {} more", names.len() - 2),
        names => names.join(", "),
    }
}

/// A line that ends where the terminal does, with a mark.
fn one_line(text: &str, style: Style) -> String {
    let text = harmless_line(text);
    let room = style.width.map_or(usize::MAX, usize::from);
    let long = text.chars().count() > room;
    if long { text.chars().take(room - 1).chain("…\n".chars()).collect() } else { text + "\n" }
}

/// `list NAME` of one mechanism: its placements, experiments, probes and parameters; `whole`:
/// nothing of it is cut.
#[must_use]
pub fn list_one(mechanism: &ListedMechanism, whole: bool, style: Style) -> String {
    let line = |lead: &str, text: &str| match whole {
        true => wrapped(lead, text, style),
        false => one_line(&format!("{lead}{text}"), style),
    };
    let mut out = style.headline(&format!("{}: {}", mechanism.id, mechanism.title));
    let usual = |words: &[String]| words.join(", ").replacen(", ", " (default), ", 1);
    out.push_str(&line("  placements   ", &usual(&mechanism.placements)));
    out.push_str(&line("  experiments  ", &usual(&mechanism.experiments)));
    let (here, absent): (Vec<_>, Vec<_>) = mechanism.probes.iter().partition(|probe| probe.available);
    if here.is_empty() {
        out.push_str(&wrapped("  not here     ", &missing(mechanism), style));
    } else {
        let by = |probe: &ListedProbe| match &probe.runtime {
            Some(runtime) if whole => format!("{} ({})", probe.id, harmless(runtime)),
            _ => probe.id.clone(),
        };
        out.push_str(&line("  probes here  ", &here.into_iter().map(by).collect::<Vec<_>>().join(", ")));
        for probe in absent {
            let install = probe.install.as_ref().map(|install| format!("needs {install}"));
            let why = install.or_else(|| probe.reason.clone()).unwrap_or_default();
            out.push_str(&line("  not here     ", &format!("{}: {why}", probe.id)));
        }
    }
    let cells = |one: &ListedParameter| {
        [format!("{}={}", one.name, one.default), one.values.clone(), one.experiments.join(",")]
    };
    let heads = ["--param NAME=DEFAULT", "values", "experiment"].map(str::to_owned);
    let rows = mechanism.parameters.iter().map(|one| (cells(one), one.help.as_str()));
    let rows: Vec<_> =
        std::iter::once((heads, "what it is")).filter(|_| !mechanism.parameters.is_empty()).chain(rows).collect();
    let widths = [0, 1, 2].map(|at| rows.iter().map(|(cells, _)| cells[at].chars().count()).max().unwrap_or(0));
    for (cells, help) in &rows {
        let lead: String = (0..3).map(|at| format!("  {:<1$}", cells[at], widths[at])).collect();
        let shown = if whole { String::new() } else { format!("  {help}") };
        out.push_str(&one_line((lead + &shown).trim_end(), style));
        out.push_str(&if whole { wrapped("      ", help, style) } else { String::new() });
    }
    out.push_str(&line("  next: ", &format!("switchcost run {0}, list {0} -v", mechanism.id)));
    style.sealed(&out)
}

/// `list` with patterns or in full: a line each, and every reason.
#[must_use]
pub fn list_text(
    mechanisms: &[ListedMechanism],
    families: &[(String, String)],
    remarks: &[String],
    style: Style,
) -> String {
    let mut out = String::new();
    let controls = |family: &&(String, String)| {
        mechanisms.iter().any(|mechanism| mechanism.family == family.0 && mechanism.control)
    };
    let (last, first): (Vec<_>, Vec<_>) = families.iter().partition(controls);
    for (family, title) in first.into_iter().chain(last) {
        let mine: Vec<_> = mechanisms.iter().filter(|mechanism| mechanism.family == *family).collect();
        if mine.is_empty() {
            continue;
        }
        out.push_str(&format!("{}\n", style.bold(title)));
        let mut table = Section::new([("mechanism", 0), ("what", 1), ("language", 2), ("build here", 0)]);
        let mut absent = String::new();
        for mechanism in mine {
            let usable = mechanism.probes.iter().filter(|probe| probe.available);
            let usable: Vec<&str> = usable.map(|probe| probe.id.as_str()).collect();
            let place = match usable.as_slice() {
                [] => Cell::Verdict("not here".to_owned(), Tint::Yellow),
                usable => Cell::Words(usable.join(" ")),
            };
            if usable.is_empty() {
                let why = format!("{}: not here: {}", mechanism.id, missing(mechanism));
                absent.push_str(&wrapped("    ", &why, style));
            }
            let what = if mechanism.short.is_empty() { &mechanism.title } else { &mechanism.short };
            let language = mechanism.tags.first().map_or("", String::as_str);
            table.rows.push(vec![Cell::Name(mechanism.id.clone()), what.as_str().into(), language.into(), place]);
        }
        out.push_str(&table.terminal(style));
        out.push_str(&absent);
        out.push('\n');
    }
    out.push_str("  `switchcost list NAME` shows its parameters; on the right: the builds here\n");
    remarks.iter().for_each(|remark| out.push_str(&wrapped("  - ", &harmless(remark), style)));
    style.sealed(&out)
}

fn missing(mechanism: &ListedMechanism) -> String {
    let mut reasons: Vec<String> = mechanism
        .probes
        .iter()
        .map(|probe| {
            let cure =
                probe.install.as_ref().map(|install| format!("; install {}", harmless(install))).unwrap_or_default();
            format!("{}{cure}", harmless(probe.reason.as_deref().unwrap_or("no reason given")))
        })
        .collect();
    reasons.dedup();
    reasons.join("; ")
}

/// A stored run as `history` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct HistoryEntry {
    /// Run id.
    pub id: String,
    /// Start, ns since 1970 UTC.
    pub started_unix_ns: i64,
    /// Why it ended.
    pub ended_by: String,
    /// Did not come to its planned end.
    pub partial: bool,
    /// Read from a file, so that it is never `latest`.
    pub imported: bool,
    /// Rows.
    pub rows: u64,
    /// Invocations.
    pub invocations: u64,
    /// Key of the machine's hardware, and behind an @ its host, where that is known.
    pub machine: String,
    /// Key of software and settings.
    pub software: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Command as typed.
    pub command: String,
}

/// Stored runs, newest first.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct HistoryList<'a> {
    /// Version of this form. New fields do not change it.
    format: u32,
    runs: &'a [HistoryEntry],
}

/// `history --format json`.
#[must_use]
pub fn history_json(entries: &[HistoryEntry]) -> String {
    crate::text::json(&HistoryList { format: 1, runs: entries })
}

/// Columns from which the start of each run has room beside its machine and kernel.
const WITH_ALL: u16 = 112;

/// `history` for a terminal, newest first; `older` runs are left out.
#[must_use]
pub fn history_text(entries: &[HistoryEntry], older: usize, style: Style) -> String {
    if entries.is_empty() {
        return "No run is stored yet; `switchcost run` makes one.\n".into();
    }
    // What is the same in all runs tells nothing.
    let differs = |of: fn(&HistoryEntry) -> &str| entries.iter().any(|entry| of(entry) != of(&entries[0]));
    let hardware = differs(|entry| entry.machine.split('@').next().unwrap_or_default());
    let mut hosts = entries.iter().filter_map(|entry| Some(entry.machine.split_once('@')?.1));
    let host = hosts.next();
    let machines = hardware || hosts.any(|other| Some(other) != host);
    let kernels = differs(|entry| &entry.kernel);
    // Its id has the time as well.
    let dated = !(machines || kernels) || style.width.is_none_or(|width| width >= WITH_ALL);
    let shown = |is: bool, text: &str| if is { Cell::Value(harmless(text).into()) } else { Cell::Empty };
    let row = |entry: &HistoryEntry| {
        vec![
            Cell::Name(entry.id.clone()),
            shown(dated, &moment(entry.started_unix_ns)),
            entry.rows.into(),
            shown(machines, &entry.machine),
            shown(kernels, &entry.kernel),
            Cell::Value(asked(entry, style).into()),
        ]
    };
    let titles = [("run", 0), ("started", 3), ("rows", 2), ("machine", 2), ("kernel", 1), ("command", 0)];
    let table = Section::new(titles).with(entries.iter().map(row));
    let all = entries.len() + older;
    let more = if older > 0 {
        format!(" … and {older} older runs: switchcost history --last {all}\n")
    } else {
        String::new()
    };
    style.sealed(&(table.terminal(style) + &more))
}

/// What was asked, on one line, and whether the run came to its end.
fn asked(entry: &HistoryEntry, style: Style) -> String {
    /// Columns that the others take.
    const OTHERS: usize = 65;
    let words = harmless(&entry.command);
    // Where the run is stored says nothing of it.
    let command = words.split(" --store ").enumerate().map(|(place, part)| match place {
        0 => part.to_owned(),
        _ => part.split_once(' ').map_or(String::new(), |(_, rest)| format!(" {rest}")),
    });
    let command: String = command.collect();
    let mut end = if entry.partial { format!(" ({})", entry.ended_by) } else { String::new() };
    end.push_str(if entry.imported { " (imported)" } else { "" });
    let room = style.width.map_or(usize::MAX, |width| usize::from(width).saturating_sub(OTHERS).max(20));
    let long = command.chars().count() + end.chars().count() > room;
    let cut = room.saturating_sub(end.chars().count() + 1);
    if long { command.chars().take(cut).chain(['…']).collect::<String>() + &end } else { command + &end }
}

/// The finding that concerns no row on one CPU.
const OF_TWO_CPUS: &str = "idle_wakeup";

/// `doctor` for a terminal: the verdict, then what speaks against figures from here; `all`: what is
/// fine as well, and effects of notes.
#[must_use]
pub fn findings_text(findings: &[Finding], all: bool, style: Style) -> String {
    let of = |severity| findings.iter().filter(move |finding| finding.severity == severity);
    let warnings: Vec<&str> = of(Severity::Warning).map(|finding| finding.id.as_str()).collect();
    let verdict = match warnings.as_slice() {
        [] => "Nothing here makes figures unreliable.".to_owned(),
        [OF_TWO_CPUS] => format!(
            "Nothing here makes figures of one CPU unreliable; of rows on two CPUs or placed by the scheduler read {OF_TWO_CPUS} first."
        ),
        [one] => format!("1 warning, {one}: read its effect before you trust a figure."),
        several => {
            format!("{} warnings, {}: read their effects before you trust a figure.", several.len(), several.join(", "))
        }
    };
    let mut out = format!("{}\n", style.headline(&verdict));
    let mut say = |mark: &str, finding: &Finding, whole: bool| {
        let FindingText { id, what, effect, cure, .. } = finding.text();
        out.push_str(&wrapped(mark, &format!("{id}: {what}"), style));
        for (name, text) in [("effect", effect), ("cure", cure)] {
            if whole && !text.is_empty() {
                out.push_str(&wrapped(&format!("          {name}: "), &text, style));
            }
        }
    };
    of(Severity::Warning).for_each(|finding| say("[warning] ", finding, true));
    of(Severity::Note).for_each(|finding| say("[note]    ", finding, all));
    of(Severity::Fine).filter(|_| all).for_each(|finding| say("[fine]    ", finding, true));
    let (notes, fine) = (of(Severity::Note).count(), of(Severity::Fine).count());
    if notes + fine > 0 && !all {
        out.push_str(&wrapped(
            "",
            &format!("doctor -v: what {notes} notes mean, and {fine} checks that passed"),
            style,
        ));
    }
    style.sealed(&out)
}
