//! What `kernels` prints.

use crate::counts::{Count, EXACT};
use crate::data::Data;
use crate::functions::Profile;
use crate::image::Image;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::Value;
use switchcost_report::Style;
use switchcost_report::answer::{Answer, Cell, Headline, Section};
use switchcost_report::text::{json, wrapped};
use switchcost_session::Exit;

/// Columns beside each other, and the width of a line that survives a mail.
const BESIDE: usize = 3;
const MAIL: u16 = 76;

/// A mode with at least this share of the batches is the only one.
const WHOLE: f64 = 0.95;

/// Functions that are shown of a row.
const FUNCTIONS: usize = 12;

/// A row of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Row {
    /// The mechanism with what differs from its defaults, and the depth if it is not 0.
    pub label: String,
    /// Levels of control groups above the probe.
    pub depth: u8,
    /// What was counted.
    pub count: Count,
    /// The same by function; null without `--functions`, or if that failed.
    pub profile: Option<Profile>,
}

/// A kernel with a setting and a probe.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Column {
    /// What stands above it.
    pub title: String,
    /// What `uname -r` says.
    pub release: String,
    /// The kernel's file.
    pub image: String,
    /// Setting beside the usual ones; null: none.
    pub setting: Option<String>,
    /// The probe, if there are several.
    pub probe: Option<String>,
    /// What the machine said: `uname`, `build` (the kernel's build id), `cmdline`, `features`, …
    pub facts: BTreeMap<String, String>,
    /// Rows, the control first; none: `missing` says why.
    pub rows: Vec<Row>,
    /// Why there are none.
    pub missing: Option<String>,
    /// The kernel's options; null: they do not lie beside its file.
    #[serde(skip)]
    pub options: Option<BTreeMap<String, String>>,
}

impl Column {
    /// Before anything is counted.
    #[must_use]
    pub fn of(image: &Image, setting: Option<String>, probe: Option<String>) -> Self {
        let (release, options) = (image.release.clone(), image.configuration());
        Self { release, options, setting, probe, image: image.path.display().to_string(), ..Self::default() }
    }

    /// What tells it from others.
    #[must_use]
    pub fn name(&self) -> String {
        let words = [Some(&self.release), self.probe.as_ref(), self.setting.as_ref()];
        words.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Two numbers of its version and its flavour: `6.12 cloud`.
    fn short(&self) -> String {
        let numbers: Vec<&str> = self.release.split(['.', '-', '+']).take(2).collect();
        let word = self.release.trim_end_matches("-amd64").rsplit('-').next().unwrap_or_default();
        let flavour = if word.starts_with(|c: char| c.is_ascii_alphabetic()) { word } else { "" };
        format!("{} {flavour}", numbers.join(".")).trim_end().to_owned()
    }

    /// The most frequent number of a row.
    fn number(&self, row: usize) -> Option<f64> {
        self.rows.get(row)?.count.modes.first().map(|mode| mode.instructions)
    }
}

/// All that was counted.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "switchcost kernels", deny_unknown_fields)]
pub struct Answered {
    /// Version of this form. New fields do not change it.
    format: u32,
    /// `counted`: an emulator's numbers of instructions. They are not times.
    verdict: String,
    /// The emulator.
    emulator: String,
    /// Words of the command line of every kernel.
    words: String,
    /// Boots of each column.
    boots: u64,
    /// Why the table means nothing; null: the control is equal in all columns.
    pub void: Option<String>,
    /// Options that change what a switch executes and differ between the first and the last column, with both values; `-`: not set.
    options: Vec<(String, String, String)>,
    /// How many of all options differ; null: not known.
    options_differ: Option<usize>,
    /// Columns.
    pub columns: Vec<Column>,
}

impl Answered {
    /// Names the columns, compares the controls and the configurations.
    #[must_use]
    pub fn new(emulator: String, boots: u64, data: &Data, mut columns: Vec<Column>) -> Self {
        let short: Vec<String> = columns.iter().map(Column::short).collect();
        let alike = short.iter().collect::<BTreeSet<_>>().len() < short.len();
        for (place, (column, short)) in columns.iter_mut().zip(short).enumerate() {
            let letter = || char::from(b'A' + u8::try_from(place % 26).unwrap_or(0)).to_string();
            column.title = if alike { letter() } else { short };
        }
        let counted: Vec<&Column> = columns.iter().filter(|column| column.missing.is_none()).collect();
        let control = |column: &Column| column.rows.first().and_then(|row| row.count.only());
        let first = counted.first().and_then(|column| control(column));
        let equal = |column: &&&Column| {
            first.zip(control(column)).is_some_and(|(first, count)| (count / first - 1.0).abs() <= EXACT)
        };
        let said = |column: &Column| {
            let count = control(column).map_or("no single number of".to_owned(), |count| format!("{count:.3}"));
            format!("{count} instructions in {}", column.name())
        };
        let void = counted.iter().find(|column| !equal(column)).map(|other| {
            format!("the control, which makes no system call, takes {}, and {}", said(counted[0]), said(other))
        });
        let ends =
            counted.first().zip(counted.last()).and_then(|(a, b)| Some((a.options.as_ref()?, b.options.as_ref()?)));
        let differ = ends.map(|(a, b)| {
            let names: BTreeSet<&String> =
                a.keys().chain(b.keys()).filter(|name| a.get(*name) != b.get(*name)).collect();
            let value = |of: &BTreeMap<String, String>, name| of.get(name).map_or("-", String::as_str).to_owned();
            names.into_iter().map(|name| (name.clone(), value(a, name), value(b, name))).collect::<Vec<_>>()
        });
        let options_differ = differ.as_ref().map(Vec::len);
        let matters = |name: &str| data.options.iter().any(|start| name.starts_with(start.as_str()));
        let options = differ.into_iter().flatten().filter(|(name, ..)| matters(name)).collect();
        Self {
            format: 1,
            verdict: "counted".to_owned(),
            emulator,
            words: crate::boot::WORDS.to_owned(),
            boots,
            void,
            options,
            options_differ,
            columns,
        }
    }

    /// Status without a gate.
    #[must_use]
    pub fn exit(&self) -> Exit {
        let lacks =
            |column: &Column| column.missing.is_some() || column.rows.iter().any(|row| row.count.missing.is_some());
        match () {
            () if self.void.is_some() => Exit::Contradicted,
            () if self.columns.iter().all(|column| column.missing.is_some()) => Exit::Nothing,
            () if self.columns.iter().any(lacks) => Exit::Partial,
            () => Exit::Fine,
        }
    }

    /// Functions of a row that grew, those first that the first column does not execute.
    #[must_use]
    pub fn grown_most(&self, row: usize) -> String {
        let of = |column: Option<&Column>| Some(column?.rows.get(row)?.profile.clone()?.functions);
        let Some((a, b)) = of(self.columns.first()).zip(of(self.columns.last())) else { return String::new() };
        let mut grown: Vec<(&String, f64)> =
            b.iter().map(|(name, count)| (name, count - a.get(name).unwrap_or(&0.0))).collect();
        grown.sort_by(|x, y| a.contains_key(x.0).cmp(&a.contains_key(y.0)).then(y.1.total_cmp(&x.1)));
        let most = grown.iter().take(3).filter(|(_, by)| *by >= 1.0).map(|(name, by)| format!("{name} {by:+.1}"));
        format!("; by function: {}", most.collect::<Vec<_>>().join(", "))
    }

    /// As Markdown that survives a plain-text mail: no line is wide, and all is ASCII.
    #[must_use]
    pub fn mail(&self, outcome: Option<String>) -> String {
        let style = Style { width: Some(MAIL), ..Style::PLAIN };
        let fold = |line: &str| {
            if line.starts_with('|') || line.is_empty() { format!("{line}\n") } else { wrapped("", line.trim(), style) }
        };
        let laid = |beside: usize| {
            let text = self.beside(outcome.clone(), beside).markdown();
            switchcost_report::ascii(&text.lines().map(fold).collect::<String>())
        };
        let fits = |text: &String| text.lines().all(|line| line.len() <= usize::from(MAIL) + 2);
        (1..=BESIDE).rev().map(laid).find(fits).unwrap_or_else(|| laid(1))
    }

    /// JSON of it.
    #[must_use]
    pub fn json(&self) -> String {
        json(self)
    }

    /// For terminals and Markdown.
    #[must_use]
    pub fn answer(&self, outcome: Option<String>) -> Answer {
        self.beside(outcome, BESIDE)
    }

    /// The same with so many columns in a table.
    fn beside(&self, outcome: Option<String>, beside: usize) -> Answer {
        let columns: Vec<&Column> = self.columns.iter().filter(|column| column.missing.is_none()).collect();
        let rows: Vec<&Row> = columns.first().map_or(Vec::new(), |column| column.rows.iter().collect());
        let mut sections: Vec<Section> = columns.chunks(beside).map(|some| counts(some, &rows)).collect();
        sections.extend(columns.chunks(beside).map(|some| slopes(some, &rows)));
        (1..rows.len()).for_each(|place| sections.extend(profiles(&columns, place, &rows[place].label)));
        let mut claims = vec!["Instructions per switch, counted in an emulator. They are not times.".to_owned()];
        if let (Some((a, b)), Some(row), None) = (columns.first().zip(columns.last()), rows.get(1), &self.void)
            && let (Some(from), Some(to), true) = (a.number(1), b.number(1), columns.len() > 1)
        {
            let change = (to / from - 1.0) * 100.0;
            claims.push(format!("{}: {from:.0} in {}, {to:.0} in {} ({change:+.1} %).", row.label, a.title, b.title));
        }
        let void = self.void.iter().map(|why| format!("Void: {why}. Nothing below can be compared."));
        let headline = Headline::on(claims, void.collect(), []);
        Answer { headline, sections, remarks: self.remarks(&columns), outcome, ..Answer::default() }
    }

    fn remarks(&self, columns: &[&Column]) -> Vec<String> {
        let mut remarks = Vec::new();
        for column in &self.columns {
            remarks.extend(column.missing.as_ref().map(|why| format!("{}: {why}.", column.name())));
            let lacking = column.rows.iter().filter_map(|row| Some((&row.label, row.count.missing.as_ref()?)));
            remarks.extend(lacking.map(|(label, why)| format!("{label} in {}: {why}.", column.name())));
        }
        let counts = || columns.iter().flat_map(|column| column.rows.iter().skip(1).map(move |row| (column, row)));
        let others = counts().filter(|(_, row)| row.count.missing.is_none() && (row.count.switches - 1.0).abs() > 0.01);
        let others: Vec<String> = others
            .map(|(column, row)| format!("{} in {} {:.2}", row.label, column.title, row.count.switches))
            .collect();
        let but = if others.is_empty() { String::new() } else { format!(", but {}", others.join(", ")) };
        remarks.push(format!("Kernel switches per unit: 1.00{but}."));
        if counts().any(|(_, row)| row.count.modes.iter().any(|mode| mode.share < WHOLE)) {
            remarks.push("Percentages: the share of batches in each mode.".to_owned());
        }
        if counts().any(|(_, row)| row.count.modes.iter().any(|mode| mode.within > EXACT)) {
            remarks
                .push("~: how far the farthest start is away. Without it, no start is further than 0.2 %.".to_owned());
        }
        for column in columns {
            let build = column.facts.get("build").map_or("unknown", String::as_str);
            let preempt = column.facts.get("preemption").and_then(|modes| modes.split(['(', ')']).nth(1));
            let preempt = preempt.map_or(String::new(), |mode| format!(", preempt={mode}"));
            remarks.push(format!("{}: {}, build id {build}{preempt}.", column.title, column.name()));
        }
        if let Some(all @ 1..) = self.options_differ {
            let named =
                self.options.iter().map(|(name, a, b)| format!("{} {a}>{b}", name.trim_start_matches("CONFIG_")));
            remarks.push(format!(
                "{all} options differ from first to last, of those that matter here: {}.",
                named.collect::<Vec<_>>().join(", ")
            ));
        }
        let (emulator, boots, words) = (&self.emulator, self.boots, &self.words);
        remarks.push(format!("{emulator}, one CPU, boots of each column: {boots}. Equal in all: {words}."));
        remarks
    }
}

/// JSON Schema of [`Answered::json`]'s object.
#[must_use]
pub fn kernels_schema() -> String {
    json(&schemars::schema_for!(Answered))
}

/// A section with a column for each kernel.
fn section(lead: &str, columns: &[&Column]) -> Section {
    Section::new(std::iter::once((lead, 0)).chain(columns.iter().map(|column| (column.title.as_str(), 0))))
}

fn line(name: impl Into<String>, cells: impl Iterator<Item = Option<Value>>) -> Vec<Cell> {
    std::iter::once(Cell::Name(name.into())).chain(cells.map(|value| value.map_or(Cell::Empty, Cell::Value))).collect()
}

/// Numbers of instructions, a line for each mode.
fn counts(columns: &[&Column], rows: &[&Row]) -> Section {
    let mut section = section("row", columns);
    for (place, row) in rows.iter().enumerate() {
        let counts: Vec<&Count> = columns.iter().map(|column| &column.rows[place].count).collect();
        let lines = counts.iter().map(|count| count.modes.len()).max().unwrap_or(0).max(1);
        let name = |mode: usize| if mode == 0 { row.label.clone() } else { String::new() };
        section.rows.extend((0..lines).map(|mode| line(name(mode), counts.iter().map(|count| shown(count, mode)))));
    }
    section
}

/// A mode with its share, if it is not the only one, and its spread, if that is too large for a number.
fn shown(count: &Count, place: usize) -> Option<Value> {
    let Some(mode) = count.modes.get(place) else { return (place == 0).then_some(Value::Unknown) };
    let small = mode.instructions < 100.0;
    let number = if small { Value::Exact(mode.instructions) } else { Value::Count(mode.instructions.round() as u64) };
    let share = if mode.share < WHOLE { format!(" {:.0}%", mode.share * 100.0) } else { String::new() };
    let spread = if mode.within > EXACT { format!(" ~{:.1}%", mode.within * 100.0) } else { String::new() };
    Some(if share.is_empty() && spread.is_empty() { number } else { Value::Words(format!("{number}{share}{spread}")) })
}

/// Instructions for each level of control groups, from the least depth of a row to its greatest.
fn slopes(columns: &[&Column], rows: &[&Row]) -> Section {
    let mut section = section("per level of control groups", columns);
    let named = |row: &Row| row.label.split(" depth=").next().unwrap_or_default().to_owned();
    let of_mechanism = rows.iter().enumerate().skip(1).collect::<Vec<_>>();
    for same in of_mechanism.chunk_by(|(_, a), (_, b)| named(a) == named(b)) {
        let ((least, a), (most, b)) = (same[0], same[same.len() - 1]);
        if b.depth > a.depth {
            let slope =
                |column: &&Column| Some((column.number(most)? - column.number(least)?) / f64::from(b.depth - a.depth));
            section.rows.push(line(
                named(a),
                columns.iter().map(|column| slope(column).map(|slope| Value::Count(slope.round() as u64))),
            ));
        }
    }
    section
}

/// Parts and functions of a row.
fn profiles(columns: &[&Column], place: usize, label: &str) -> Vec<Section> {
    let with: Vec<(&Column, &Profile)> =
        columns.iter().filter_map(|column| Some((*column, column.rows[place].profile.as_ref()?))).collect();
    let Some(((_, first), (_, last))) = with.first().zip(with.last()) else { return Vec::new() };
    let value = |count: Option<&f64>| count.map(|count| Value::Tenths(*count));
    let columns: Vec<&Column> = with.iter().map(|(column, _)| *column).collect();
    let names: BTreeSet<&String> = with.iter().flat_map(|(_, profile)| profile.parts.keys()).collect();
    let mut parts = section("part of the kernel", &columns);
    parts.title = format!("{label}, by part of the kernel");
    parts
        .rows
        .extend(names.iter().map(|name| line(*name, with.iter().map(|(_, profile)| value(profile.parts.get(*name))))));
    parts.rows.push(line("sum", with.iter().map(|(_, profile)| value(Some(&profile.sum)))));
    let apart = with.iter().filter(|(_, profile)| !profile.adds_up());
    parts.below.extend(apart.map(|(column, profile)| {
        format!("{}: the parts do not add up to its clock's {:.1}.", column.title, profile.clock)
    }));
    let of = |profile: &Profile, name: &String| profile.functions.get(name).copied().unwrap_or(0.0);
    let size = |name: &String| if with.len() > 1 { (of(last, name) - of(first, name)).abs() } else { of(first, name) };
    let mut names: Vec<&String> =
        first.functions.keys().chain(last.functions.keys()).collect::<BTreeSet<_>>().into_iter().collect();
    names.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let mut functions = section("function", &columns);
    functions.title =
        format!("{label}, by function: those that {}", if with.len() > 1 { "changed most" } else { "execute most" });
    let lines = names
        .iter()
        .take(FUNCTIONS)
        .map(|name| line(*name, with.iter().map(|(_, profile)| value(profile.functions.get(*name)))));
    functions.rows.extend(lines);
    vec![parts, functions]
}
