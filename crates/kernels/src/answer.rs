//! What `kernels` prints.

use crate::counts::{Count, EXACT};
use crate::functions::{ADDS_UP, Data, Profile};
use crate::image::Image;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::Value;
use switchcost_report::answer::{Answer, Cell, Headline, Section};
use switchcost_session::Exit;

/// A mode with at least this share of the batches is the only one.
const WHOLE: f64 = 0.95;

/// What stands beside a number.
const LEGEND: &str = "A percentage: the share of batches in that mode. ~: how far its farthest start is away, if that is more than 0.2 %.";

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
}

impl Column {
    /// What tells it from others.
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

    fn profile(&self, row: usize) -> Option<&Profile> {
        self.rows.get(row)?.profile.as_ref()
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
    /// Options that change what a switch executes and differ between the first and the last kernel,
    /// with both values; `-`: not set.
    options: Vec<(String, String, String)>,
    /// How many of all options differ; null: not known.
    options_differ: Option<usize>,
    /// Columns.
    pub columns: Vec<Column>,
}

impl Answered {
    /// Names the columns, compares the controls and the configurations of the first and the last
    /// image.
    pub fn new(emulator: String, boots: u64, data: &Data, images: &[Image], mut columns: Vec<Column>) -> Self {
        let short: Vec<String> = columns.iter().map(Column::short).collect();
        let alike = short.iter().collect::<BTreeSet<_>>().len() < short.len();
        for ((column, short), letter) in columns.iter_mut().zip(short).zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ".chars().cycle())
        {
            column.title = if alike { letter.to_string() } else { short };
        }
        let one = |row: &&Row| row.count.modes.len() == 1;
        let control = |column: &Column| column.rows.first().filter(one).and_then(|_| column.number(0));
        let said = |column: &Column| {
            let count = control(column).map_or("no single number of".to_owned(), |count| format!("{count:.3}"));
            format!("{count} instructions in {}", column.name())
        };
        let mut counted = columns.iter().filter(|column| column.missing.is_none());
        let void = counted.clone().next().and_then(|first| {
            let equal = |a: f64, b: f64| (b / a - 1.0).abs() <= EXACT;
            let other = counted.find(|other| !control(first).zip(control(other)).is_some_and(|(a, b)| equal(a, b)))?;
            Some(format!("the control, which makes no system call, takes {}, and {}", said(first), said(other)))
        });
        let ends = images.first().and_then(Image::options).zip(images.last().and_then(Image::options));
        let differ: Option<Vec<_>> = ends.map(|(a, b)| {
            let value = |of: &BTreeMap<_, _>, name| of.get(name).map_or("-", String::as_str).to_owned();
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let values = names.into_iter().map(|name| (name.clone(), value(&a, name), value(&b, name)));
            values.filter(|(_, a, b)| a != b).collect()
        });
        let options_differ = differ.as_ref().map(Vec::len);
        let matters = |name: &str| data.options.iter().any(|start| name.starts_with(start.as_str()));
        let options = differ.into_iter().flatten().filter(|(name, ..)| matters(name)).collect();
        let (verdict, words) = ("counted".to_owned(), crate::image::WORDS.to_owned());
        Self { format: 1, verdict, emulator, words, boots, void, options, options_differ, columns }
    }

    /// Status without a gate.
    pub fn exit(&self) -> Exit {
        let rows = || self.columns.iter().flat_map(|column| &column.rows);
        let missing = self.columns.iter().filter(|column| column.missing.is_some()).count();
        match missing {
            _ if self.void.is_some() => Exit::Contradicted,
            all if all == self.columns.len() => Exit::Nothing,
            0 if rows().all(|row| row.count.missing.is_none()) => Exit::Fine,
            _ => Exit::Partial,
        }
    }

    /// Functions of a row that grew, those first that the first column does not execute.
    pub fn grown_most(&self, row: usize) -> String {
        let ends = self.columns.first().zip(self.columns.last());
        let Some((a, b)) = ends.and_then(|(a, b)| a.profile(row).zip(b.profile(row))) else { return String::new() };
        let mut grown = b.since(a);
        grown.sort_by(|x, y| y.1.total_cmp(&x.1));
        grown.sort_by_key(|(name, _)| a.functions.contains_key(*name));
        let most = grown.iter().take(3).filter(|(_, by)| *by >= 1.0).map(|(name, by)| format!("{name} {by:+.1}"));
        format!("; by function: {}", most.collect::<Vec<_>>().join(", "))
    }

    /// For people.
    pub fn answer(&self, outcome: Option<String>) -> Answer {
        let columns: Vec<&Column> = self.columns.iter().filter(|column| column.missing.is_none()).collect();
        let mut sections = vec![counts(&columns), slopes(&columns)];
        let rows = columns.first().map_or(&[][..], |column| &column.rows);
        sections.extend((1..rows.len()).flat_map(|place| profiles(&columns, place)));
        let mut claims = vec!["Instructions per switch, counted in an emulator. They are not times.".to_owned()];
        if let ([a, .., b], [_, row, ..], None) = (&*columns, rows, &self.void)
            && let Some((from, to)) = a.number(1).zip(b.number(1))
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
            let lacking = column.rows.iter().filter_map(|row| Some((&row.label, row.count.missing.as_ref()?)));
            remarks.extend(column.missing.iter().map(|why| format!("{}: {why}.", column.name())));
            remarks.extend(lacking.map(|(label, why)| format!("{label} in {}: {why}.", column.name())));
        }
        let counts = columns.iter().flat_map(|column| column.rows.iter().skip(1).map(move |row| (column, row)));
        let others: String = counts
            .filter(|(_, row)| row.count.missing.is_none() && (row.count.switches - 1.0).abs() > 0.01)
            .map(|(column, row)| format!(", {} in {} {:.2}", row.label, column.title, row.count.switches))
            .collect();
        let switches = format!("Kernel switches per unit: 1.00{}.", others.replacen(", ", ", but ", 1));
        remarks.extend(columns.first().into_iter().flat_map(|_| [switches.clone(), LEGEND.to_owned()]));
        for column in columns {
            let build = column.facts.get("build").map_or("unknown", String::as_str);
            let chosen = column.facts.get("preemption").and_then(|modes| modes.split(['(', ')']).nth(1));
            let preempt = chosen.map_or(String::new(), |mode| format!(", preempt={mode}"));
            remarks.push(format!("{}: {}, build id {build}{preempt}.", column.title, column.name()));
        }
        if let Some(all @ 1..) = self.options_differ {
            let named = self.options.iter().map(|(name, a, b)| format!("{} {a}>{b}", name.replace("CONFIG_", "")));
            let named = named.collect::<Vec<_>>().join(", ");
            remarks.push(format!("{all} options differ from first to last, of those that matter here: {named}."));
        }
        let (emulator, boots, words) = (&self.emulator, self.boots, &self.words);
        remarks.push(format!("{emulator}, one CPU, boots of each column: {boots}. Equal in all: {words}."));
        remarks
    }
}

/// A section with a column for each kernel.
fn section(lead: &str, columns: &[&Column]) -> Section {
    let titles = std::iter::once(lead).chain(columns.iter().map(|column| column.title.as_str()));
    Section { goes_on: true, ..Section::new(titles.map(|title| (title, 0))) }
}

/// A line of it: its name, and what stands below each kernel.
fn line(name: &str, columns: &[&Column], of: impl Fn(&Column) -> Option<Value>) -> Vec<Cell> {
    let cells = columns.iter().map(|column| of(column).map_or(Cell::Empty, Cell::Value));
    std::iter::once(Cell::Name(name.to_owned())).chain(cells).collect()
}

/// Numbers of instructions, a line for each mode.
fn counts(columns: &[&Column]) -> Section {
    let mut section = section("row", columns);
    for (place, row) in columns.first().into_iter().flat_map(|column| column.rows.iter().enumerate()) {
        let count = |column: &Column| column.rows.get(place).map(|row| row.count.clone()).unwrap_or_default();
        let lines = columns.iter().map(|column| count(column).modes.len()).max().unwrap_or(0).max(1);
        let names = std::iter::once(row.label.as_str()).chain(std::iter::repeat("")).take(lines).enumerate();
        section.rows.extend(names.map(|(mode, name)| line(name, columns, |column| shown(&count(column), mode))));
    }
    section
}

/// A mode with its share, if it is not the only one, and its spread, if that is too large for a
/// number.
fn shown(count: &Count, place: usize) -> Option<Value> {
    let Some(mode) = count.modes.get(place) else { return (place == 0).then_some(Value::Unknown) };
    if mode.instructions < 100.0 {
        return Some(Value::Exact(mode.instructions));
    }
    let share = if mode.share < WHOLE { format!(" {:.0}%", mode.share * 100.0) } else { String::new() };
    let spread = if mode.within > EXACT { format!(" ~{:.1}%", mode.within * 100.0) } else { String::new() };
    Some(Value::Words(format!("{}{share}{spread}", Value::Count(mode.instructions.round() as u64))))
}

/// Instructions for each level of control groups, from the least depth of a row to its greatest.
fn slopes(columns: &[&Column]) -> Section {
    let mut section = section("per level of control groups", columns);
    let rows = columns.first().map_or(&[][..], |column| &column.rows);
    let rows: Vec<(&str, usize)> =
        rows.iter().map(|row| row.label.split(" depth=").next().unwrap_or_default()).zip(0..).collect();
    for same in rows.chunk_by(|(a, _), (b, _)| a == b) {
        let ((name, least), (_, most)) = (same[0], same[same.len() - 1]);
        let at = |column: &Column, row: usize| Some((column.number(row)?, f64::from(column.rows.get(row)?.depth)));
        let slope = |column: &Column| {
            let ((a, low), (b, high)) = at(column, least).zip(at(column, most))?;
            let by = (b - a) / (high - low);
            by.is_finite().then(|| Value::Count(by.round() as u64))
        };
        if least < most {
            section.rows.push(line(name, columns, slope));
        }
    }
    section
}

/// Parts and functions of a row.
fn profiles(columns: &[&Column], place: usize) -> Vec<Section> {
    let (with, all): (Vec<&Column>, Vec<&Profile>) =
        columns.iter().filter_map(|column| Some((*column, column.profile(place)?))).unzip();
    let ([first, ..], [.., last]) = (&*all, &*all) else { return Vec::new() };
    let label = &with[0].rows[place].label;
    let table = |lead, title: String, names: Vec<&String>, which: fn(&Profile) -> &BTreeMap<String, f64>| {
        let cell = |column: &Column, name: &String| which(column.profile(place)?).get(name).copied();
        let row = |name: &String| line(name, &with, |column| cell(column, name).map(Value::Tenths));
        Section { title: format!("{label}, by {title}"), ..section(lead, &with) }.with(names.into_iter().map(row))
    };
    let names: BTreeSet<&String> = all.iter().flat_map(|profile| profile.parts.keys()).collect();
    let of_kernel = "part of the kernel";
    let mut parts = table(of_kernel, of_kernel.to_owned(), names.into_iter().collect(), |profile| &profile.parts);
    parts.rows.push(line("sum", &with, |column| Some(Value::Tenths(column.profile(place)?.sum))));
    for (column, profile) in with.iter().zip(&all).filter(|(_, by)| (by.sum / by.clock - 1.0).abs() > ADDS_UP) {
        parts.below.push(format!("{}: the parts do not add up to its clock's {:.1}.", column.title, profile.clock));
    }
    let (none, many) = (Profile::default(), all.len() > 1);
    let mut changed = last.since(if many { first } else { &none });
    changed.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let names = changed.into_iter().take(FUNCTIONS).map(|(name, _)| name).collect();
    let title = format!("function: those that {} most", if many { "changed" } else { "execute" });
    vec![parts, table("function", title, names, |profile| &profile.functions)]
}
