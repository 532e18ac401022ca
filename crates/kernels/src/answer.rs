//! What `kernels` prints.

use crate::counts::{Count, EXACT};
use crate::data::Data;
use crate::functions::Profile;
use crate::image::Image;
use crate::passage::Outcome;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::Value;
use switchcost_report::answer::{Answer, Cell, Headline, Section};
use switchcost_report::text::json;
use switchcost_session::Exit;

/// Columns beside each other: more do not survive a mail.
const BESIDE: usize = 4;

/// Functions that are shown of a row.
const FUNCTIONS: usize = 15;

/// A row of a column.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Row {
    /// The mechanism with what differs from its defaults.
    pub label: String,
    /// Levels of control groups above the probe.
    pub depth: u8,
    /// What was counted.
    pub count: Count,
    /// The same by function; null without `--functions`, or if that failed.
    pub profile: Option<Profile>,
}

impl Row {
    /// Its name in the table.
    pub fn named(&self) -> String {
        if self.depth == 0 { self.label.clone() } else { format!("{} depth={}", self.label, self.depth) }
    }
}

/// A kernel with a setting and a probe.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Column {
    /// What `uname -r` says.
    pub release: String,
    /// The kernel's file.
    pub image: String,
    /// Setting beside the usual ones; null: none.
    pub setting: Option<String>,
    /// The probe, if there are several.
    pub probe: Option<String>,
    /// Facts that the machine gave: `uname`, `build` (the kernel's build id), `cmdline`, `features`, …
    pub facts: BTreeMap<String, String>,
    /// Rows, the control first; none: `missing` says why.
    pub rows: Vec<Row>,
    /// Why there are none.
    pub missing: Option<String>,
    /// The kernel's options, if its file was found.
    #[serde(skip)]
    pub options: Option<Vec<String>>,
}

impl Column {
    /// Before anything is counted.
    #[must_use]
    pub fn of(image: &Image, setting: Option<String>, probe: Option<String>) -> Self {
        let (release, options) = (image.release.clone(), image.configuration());
        let image = image.path.display().to_string();
        Self { release, image, setting, probe, facts: BTreeMap::new(), rows: Vec::new(), missing: None, options }
    }

    /// What tells it from others.
    #[must_use]
    pub fn name(&self) -> String {
        [Some(&self.release), self.probe.as_ref(), self.setting.as_ref()]
            .into_iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The same in a table: without what a distribution adds.
    fn title(&self) -> String {
        let short = self.release.trim_end_matches("-amd64");
        let version: String = short.split(['-', '+']).next().unwrap_or(short).to_owned();
        let flavour = short.rsplit_once('-').map_or("", |(_, word)| word);
        let flavour = if flavour.starts_with(|c: char| c.is_ascii_alphabetic()) { flavour } else { "" };
        let words =
            [version.as_str(), flavour, self.probe.as_deref().unwrap_or(""), self.setting.as_deref().unwrap_or("")];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// All that was counted.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "switchcost kernels", deny_unknown_fields)]
pub struct Answered {
    /// Version of this form. New fields do not change it.
    format: u32,
    /// The verdict word: instructions of an emulator are counted; they are no times.
    verdict: &'static str,
    /// The emulator.
    emulator: String,
    /// Why the table means nothing; null: the control is equal in all columns.
    pub void: Option<String>,
    /// Options of kernels that differ between the first and the last column, of those that change what a hand-off executes; null: not known.
    options: Option<Vec<(String, String, String)>>,
    /// Options that differ in all; null: not known.
    options_differ: Option<usize>,
    /// Columns.
    pub columns: Vec<Column>,
}

impl Answered {
    /// Compares the controls and the configurations.
    #[must_use]
    pub fn new(emulator: String, data: &Data, columns: Vec<Column>) -> Self {
        let controls: Vec<(&Column, f64)> = columns
            .iter()
            .filter_map(|column| Some((column, column.rows.first()?.count.modes.first()?.instructions)))
            .collect();
        let void =
            controls.iter().find(|(_, count)| (count / controls[0].1 - 1.0).abs() > EXACT).map(|(column, count)| {
                format!(
                    "the control, which makes no system call, takes {:.3} instructions in {} and {count:.3} in {}",
                    controls[0].1,
                    controls[0].0.name(),
                    column.name()
                )
            });
        let lacking = columns.iter().find(|column| {
            column.missing.is_none() && column.rows.first().is_none_or(|row| row.count.modes.len() != 1)
        });
        let void =
            void.or_else(|| lacking.map(|column| format!("the control is no single number in {}", column.name())));
        let differ = columns
            .first()
            .zip(columns.last())
            .and_then(|(a, b)| Some(differences(a.options.as_ref()?, b.options.as_ref()?)));
        let shown = |(name, _, _): &&(String, String, String)| {
            data.options.iter().any(|start| name.starts_with(start.as_str()))
        };
        let options = differ.as_ref().map(|all| all.iter().filter(shown).cloned().collect());
        Self {
            format: 1,
            verdict: "counted",
            emulator,
            void,
            options,
            options_differ: differ.map(|all| all.len()),
            columns,
        }
    }

    /// Status without a gate.
    #[must_use]
    pub fn exit(&self) -> Exit {
        let missing =
            |column: &Column| column.missing.is_some() || column.rows.iter().any(|row| row.count.missing.is_some());
        match self.columns.iter().filter(|column| missing(column)).count() {
            _ if self.void.is_some() => Exit::Contradicted,
            _ if self.columns.iter().all(|column| column.missing.is_some()) => Exit::Nothing,
            0 => Exit::Fine,
            _ => Exit::Partial,
        }
    }

    /// Functions of a row that the last column executes and the first does not; if there are none, the one that grew most.
    #[must_use]
    pub fn grown_most(&self, row: &str) -> String {
        fn of<'c>(column: &'c Column, row: &str) -> Option<&'c BTreeMap<String, f64>> {
            Some(&column.rows.iter().find(|own| own.named() == row)?.profile.as_ref()?.functions)
        }
        let Some((a, b)) = self
            .columns
            .first()
            .and_then(|first| of(first, row))
            .zip(self.columns.last().and_then(|last| of(last, row)))
        else {
            return String::new();
        };
        let mut grown: Vec<(&String, f64, bool)> = b
            .iter()
            .map(|(name, count)| (name, count - a.get(name).unwrap_or(&0.0), !a.contains_key(name) && *count >= 1.0))
            .collect();
        grown.sort_by(|x, y| y.1.total_cmp(&x.1));
        let new: Vec<String> =
            grown.iter().filter(|one| one.2).take(3).map(|(name, by, _)| format!("{name} ({by:.1})")).collect();
        match (new.as_slice(), grown.first()) {
            ([], Some((name, by, _))) => format!("; {name} grew most, by {by:.1} instructions"),
            ([], None) => String::new(),
            (new, _) => format!("; new are {}", new.join(", ")),
        }
    }
}

/// Options that two configurations have differently, with both values.
fn differences(a: &[String], b: &[String]) -> Vec<(String, String, String)> {
    let map = |lines: &[String]| -> BTreeMap<String, String> {
        lines
            .iter()
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    };
    let (a, b) = (map(a), map(b));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let value = |of: &BTreeMap<String, String>, name: &String| of.get(name).map_or("-".to_owned(), Clone::clone);
    names
        .into_iter()
        .filter(|name| a.get(*name) != b.get(*name))
        .map(|name| (name.clone(), value(&a, name), value(&b, name)))
        .collect()
}

/// JSON of the answer.
#[must_use]
pub fn kernels_json(answered: &Answered) -> String {
    json(answered)
}

/// JSON Schema of [`kernels_json`]'s object.
#[must_use]
pub fn kernels_schema() -> String {
    json(&schemars::schema_for!(Answered))
}

fn whole(count: f64) -> Cell {
    Cell::Value(if count < 100.0 { Value::Exact(count) } else { Value::Count(count.round() as u64) })
}

/// A mode's number with its share, if it is not the only one; with its spread, if that is too large for a number.
fn shown(count: &Count, place: usize) -> Cell {
    let Some(mode) = count.modes.get(place) else {
        return if place == 0 { Cell::Value(Value::Unknown) } else { Cell::Empty };
    };
    let Cell::Value(number) = whole(mode.instructions) else { return Cell::Empty };
    let share = if count.modes.len() > 1 { format!(" {:.0}%", mode.share * 100.0) } else { String::new() };
    let spread = if mode.within > EXACT { format!(" ±{:.1}%", mode.within * 100.0) } else { String::new() };
    if share.is_empty() && spread.is_empty() {
        Cell::Value(number)
    } else {
        Cell::Value(Value::Words(format!("{number}{share}{spread}")))
    }
}

/// Rows of up to four columns.
fn table(columns: &[Column], rows: &[String]) -> Section {
    let titles: Vec<String> = columns.iter().map(Column::title).collect();
    let mut section = Section::new(std::iter::once(("row", 0)).chain(titles.iter().map(|title| (title.as_str(), 0))));
    let of = |column: &Column, place: usize| column.rows.get(place).map(|row| row.count.clone()).unwrap_or_default();
    for (place, row) in rows.iter().enumerate() {
        let lines = columns.iter().map(|column| of(column, place).modes.len()).max().unwrap_or(0).max(1);
        for line in 0..lines {
            let name = if line == 0 { Cell::Name(row.clone()) } else { Cell::Empty };
            let cells = columns.iter().map(|column| shown(&of(column, place), line));
            section.rows.push(std::iter::once(name).chain(cells).collect());
        }
    }
    section
}

/// Parts and functions of a row in each column.
fn grown(answered: &Answered, row: &str, place: usize) -> Option<Vec<Section>> {
    let with: Vec<(&Column, &Profile)> = answered
        .columns
        .iter()
        .filter_map(|column| Some((column, column.rows.get(place)?.profile.as_ref()?)))
        .collect();
    let (first, last) = (with.first()?.1, with.last()?.1);
    let titles: Vec<String> = with.iter().map(|(column, _)| column.title()).collect();
    let section = |what: &str, names: Vec<&String>, of: fn(&Profile) -> &BTreeMap<String, f64>| {
        let mut section =
            Section::new(std::iter::once((what, 0)).chain(titles.iter().map(|title| (title.as_str(), 0))));
        let cell = |name: &String, profile: &Profile| {
            of(profile).get(name).map_or(Cell::Empty, |count| Cell::Value(Value::Tenths(*count)))
        };
        section.rows.extend(names.iter().map(|name| {
            std::iter::once(Cell::Name((*name).clone()))
                .chain(with.iter().map(|(_, profile)| cell(name, profile)))
                .collect()
        }));
        section
    };
    let names: BTreeSet<&String> = with.iter().flat_map(|(_, profile)| profile.parts.keys()).collect();
    let mut parts = section("part", names.into_iter().collect(), |profile| &profile.parts);
    parts.title = format!("{row}, by part of the kernel");
    let mut sum = vec![Cell::Name("sum".to_owned())];
    sum.extend(with.iter().map(|(_, profile)| Cell::Value(Value::Tenths(profile.sum))));
    parts.rows.push(sum);
    for (column, profile) in with.iter().filter(|(_, profile)| !profile.adds_up()) {
        parts.below.push(format!("{}: the parts do not add up: its clock says {:.1}.", column.name(), profile.clock));
    }
    let change = |name: &String| last.functions.get(name).unwrap_or(&0.0) - first.functions.get(name).unwrap_or(&0.0);
    let size = |name: &String| if with.len() > 1 { change(name).abs() } else { first.functions[name] };
    let all: BTreeSet<&String> = first.functions.keys().chain(last.functions.keys()).collect();
    let mut all: Vec<&String> = all.into_iter().collect();
    all.sort_by(|a, b| size(b).total_cmp(&size(a)));
    all.truncate(FUNCTIONS);
    let mut functions = section("function", all, |profile| &profile.functions);
    functions.title =
        format!("{row}, by function: those that {}", if with.len() > 1 { "changed most" } else { "execute most" });
    Some(vec![parts, functions])
}

/// For terminals and Markdown.
#[must_use]
pub fn answer(answered: &Answered, outcome: Option<&Outcome>) -> Answer {
    let columns: Vec<Column> = answered.columns.iter().filter(|column| column.missing.is_none()).cloned().collect();
    let rows: Vec<String> = columns.first().map_or(Vec::new(), |column| column.rows.iter().map(Row::named).collect());
    let mut claims = vec!["Instructions per hand-off, counted in an emulator. Counts are no times.".to_owned()];
    let count = |column: &Column| column.rows.get(1)?.count.modes.first().map(|mode| mode.instructions);
    let ends = columns.first().zip(columns.last()).filter(|_| columns.len() > 1);
    if let (Some((a, b)), None) = (ends, &answered.void)
        && let (Some(of_a), Some(of_b)) = (count(a), count(b))
    {
        claims.push(format!(
            "{}: {of_a:.0} in {}, {of_b:.0} in {} ({:+.1} %).",
            rows[1],
            a.title(),
            b.title(),
            (of_b / of_a - 1.0) * 100.0
        ));
    }
    let void = answered.void.iter().map(|why| format!("Void: {why}. Nothing below can be compared."));
    let mut remarks = Vec::new();
    for column in &answered.columns {
        let why = column.missing.as_ref().map(|why| format!("{}: {why}.", column.name()));
        let of_rows = column
            .rows
            .iter()
            .filter_map(|row| Some(format!("{} in {}: {}.", row.named(), column.name(), row.count.missing.as_ref()?)));
        remarks.extend(why.into_iter().chain(of_rows));
    }
    let others = columns.iter().flat_map(|column| column.rows.iter().skip(1).map(move |row| (column, row)));
    let switches =
        others.clone().filter(|(_, row)| row.count.missing.is_none() && (row.count.switches - 1.0).abs() > 0.01);
    let listed: Vec<String> = switches
        .map(|(column, row)| format!("{} in {} {:.3}", row.named(), column.title(), row.count.switches))
        .collect();
    remarks.push(format!(
        "Kernel switches per unit: 1.00{}.",
        if listed.is_empty() { " in all".to_owned() } else { format!(", but {}", listed.join(", ")) }
    ));
    if others.clone().any(|(_, row)| row.count.modes.len() > 1) {
        remarks.push("Several numbers in a cell: modes, with the share of batches in each.".to_owned());
    }
    if others.clone().any(|(_, row)| !row.count.is_exact()) {
        remarks.push("± is the distance of the farthest start; without it, no start is further than 0.2 %.".to_owned());
    }
    for column in &columns {
        let fact = |name: &str| column.facts.get(name).map_or("unknown", String::as_str).to_owned();
        remarks.push(format!(
            "{}: {}, build id {}, preempt {}",
            column.title(),
            fact("uname"),
            fact("build"),
            fact("preempt")
        ));
    }
    if let (Some(options), Some(all)) = (&answered.options, answered.options_differ)
        && all > 0
    {
        let named: Vec<String> =
            options.iter().map(|(name, a, b)| format!("{} {a}>{b}", name.trim_start_matches("CONFIG_"))).collect();
        remarks.push(format!(
            "{all} options differ from the first kernel to the last; of those that matter here: {}",
            named.join(", ")
        ));
    }
    remarks.push(format!(
        "{}, 1 CPU, {} boots' words: {}",
        answered.emulator,
        columns.first().map_or(0, |column| column.rows.first().map_or(0, |row| row.count.starts)),
        crate::boot::WORDS
    ));
    let mut sections: Vec<Section> = columns.chunks(BESIDE).map(|chunk| table(chunk, &rows)).collect();
    for (place, row) in rows.iter().enumerate().skip(1) {
        sections.extend(grown(answered, row, place).into_iter().flatten());
    }
    Answer {
        headline: Headline::on(claims, void.collect(), []),
        sections,
        remarks,
        outcome: outcome.map(|outcome| outcome.sentence.clone()),
        ..Answer::default()
    }
}
