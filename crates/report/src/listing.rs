//! `list`, `history` and `doctor`.

use crate::text::{Style, Tint, cell, drawn, moment, right, tinted, wrapped};
use serde::Serialize;
use switchcost_model::{Finding, Severity, harmless};

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

/// `list` for a terminal. `overview`: all there is, a line each; else those that were asked for, with titles and every reason.
#[must_use]
pub fn list_text(
    mechanisms: &[ListedMechanism],
    families: &[(String, String)],
    remarks: &[String],
    overview: bool,
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
        if overview && mine.iter().all(|mechanism| mechanism.control) {
            out.push_str(&format!(
                "  {} of them, measured beside the others: `switchcost list {family}`\n\n",
                mine.len()
            ));
            continue;
        }
        let mut table = style.table();
        table.set_header(["  mechanism", "what", "language", "build here"].map(cell));
        let mut absent = String::new();
        for mechanism in mine {
            let usable: Vec<&str> =
                mechanism.probes.iter().filter(|probe| probe.available).map(|probe| probe.id.as_str()).collect();
            let (place, tint) = match usable.as_slice() {
                [] => ("not here".to_owned(), Tint::Yellow),
                usable => (usable.join(" "), Tint::Green),
            };
            if usable.is_empty() && !overview {
                absent.push_str(&wrapped("    ", &format!("{}: {}", mechanism.id, missing(mechanism)), style));
            }
            let what = if mechanism.short.is_empty() { &mechanism.title } else { &mechanism.short };
            table.add_row(vec![
                cell(format!("  {}", mechanism.id)),
                cell(what),
                cell(mechanism.tags.first().map_or("", String::as_str)),
                tinted(place, style.colour.then_some(tint)),
            ]);
        }
        out.push_str(&drawn(&mut table));
        out.push_str(&absent);
        out.push('\n');
    }
    let lacking = mechanisms.iter().any(|mechanism| !mechanism.probes.iter().any(|probe| probe.available));
    out.push_str("  `switchcost run NAME` measures one; on the right: the builds that run it here\n");
    if overview && lacking {
        out.push_str("  not here: `switchcost list NAME` says why, and what to install\n");
    }
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
            format!("not here: {}{cure}", harmless(probe.reason.as_deref().unwrap_or("no reason given")))
        })
        .collect();
    reasons.dedup();
    reasons.join("; ")
}

/// A stored run as `history` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
    /// Key of the machine's hardware.
    pub machine: String,
    /// Key of software and settings.
    pub software: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Command as typed.
    pub command: String,
}

/// `history --format json`.
#[must_use]
pub fn history_json(entries: &[HistoryEntry]) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        format: u32,
        runs: &'a [HistoryEntry],
    }
    crate::text::json(&Document { format: 1, runs: entries })
}

/// `history` for a terminal, newest first.
#[must_use]
pub fn history_text(entries: &[HistoryEntry], style: Style) -> String {
    if entries.is_empty() {
        return "No run is stored yet; `switchcost run` makes one.\n".into();
    }
    // What is the same in all runs tells nothing.
    let differs = |of: fn(&HistoryEntry) -> &String| entries.iter().any(|entry| of(entry) != of(&entries[0]));
    let (machines, kernels) = (differs(|entry| &entry.machine), differs(|entry| &entry.kernel));
    let mut table = style.table();
    let mut header = vec![cell("run"), cell("started"), right("rows")];
    header.extend(machines.then(|| cell("machine")));
    header.extend(kernels.then(|| cell("kernel")));
    table.set_header(header.into_iter().chain([cell("command")]));
    for entry in entries {
        let mut row = vec![cell(&entry.id), cell(moment(entry.started_unix_ns)), right(entry.rows)];
        row.extend(machines.then(|| cell(&entry.machine)));
        row.extend(kernels.then(|| cell(harmless(&entry.kernel))));
        table.add_row(row.into_iter().chain([cell(asked(entry, style))]));
    }
    style.sealed(&drawn(&mut table))
}

/// What was asked, on one line, and whether the run came to its end.
fn asked(entry: &HistoryEntry, style: Style) -> String {
    /// Columns that the others take.
    const OTHERS: usize = 60;
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

/// `doctor` for a terminal: the verdict, then what speaks against figures from here; `all`: what is fine as well.
#[must_use]
pub fn findings_text(findings: &[Finding], all: bool, style: Style) -> String {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let warnings = findings.iter().filter(|finding| finding.severity == Severity::Warning).count();
    let verdict = match warnings {
        0 => "Nothing here makes figures unreliable.".to_owned(),
        1 => "1 warning: read its effect before you trust a figure.".to_owned(),
        n => format!("{n} warnings: read their effects before you trust a figure."),
    };
    let mut out = format!("{}\n\n", style.bold(&verdict));
    for finding in sorted.iter().filter(|finding| all || finding.severity != Severity::Fine) {
        let mark = match finding.severity {
            Severity::Warning => "[warning] ",
            Severity::Note => "[note]    ",
            Severity::Fine => "[fine]    ",
        };
        out.push_str(&wrapped(mark, &format!("{}: {}", finding.id, finding.what), style));
        for (name, text) in [("effect", &finding.effect), ("cure", &finding.cure)] {
            if !text.is_empty() {
                out.push_str(&wrapped(&format!("          {name}: "), text, style));
            }
        }
    }
    let fine = findings.iter().filter(|finding| finding.severity == Severity::Fine).count();
    if fine > 0 && !all {
        out.push_str(&format!("[fine]    {fine} other checks: doctor -v\n"));
    }
    style.sealed(&out)
}
