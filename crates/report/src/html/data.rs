//! What the page shows, in the form in which it reads it (`web/src/page.d.ts` is generated from
//! these types).

use super::answer::AuditAnswer;
use super::explained::{ExplainedPart, explained};
use super::tables::{Table, short, tables};
use crate::columns::{COLUMNS, Column, Shown};
use crate::compare::{PublishedPart, published_part};
use crate::formats::json::{Document, document};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_analysis::{Analysis, Condition, Detail, Row, SHARES, Start, detail};
use switchcost_catalogue::{Catalogue, Published, published};
use switchcost_model::{Experiment, Family, Measure, MechanismId, Placement, Quantity, Variant, quantities};

/// Starts that a page tells one by one; runs beyond that give their figures only.
const MOST_STARTS: usize = 50_000;

/// Points of curves and cells of matrices on a page.
const MOST_POINTS: usize = 50_000;

/// What a page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Runs in the order given.
    pub runs: &'a [Analysis<'a>],
    /// Where each came from, as the user named it.
    pub sources: &'a [String],
    /// What `audit` said of running programs, as its JSON.
    pub audits: &'a [AuditAnswer],
    /// Name and version of the program.
    pub tool: &'a str,
    /// The command that makes this page again.
    pub command: &'a str,
}

/// The whole document.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "PageData")]
pub struct Data<'a> {
    format: u32,
    tool: &'a str,
    made_by: &'a str,
    /// Shares at which `batches` of a row are given.
    shares: &'a [f64],
    /// Those of every table of rows.
    columns: Vec<ColumnPart>,
    /// What may be measured, the usual one first.
    experiments: Vec<ExperimentPart>,
    /// Where contexts may run, the usual place first.
    placements: Vec<PlacementPart>,
    /// What figures may be of.
    quantities: Vec<&'static Measure>,
    families: Vec<FamilyPart<'a>>,
    mechanisms: BTreeMap<&'a str, MechanismPart<'a>>,
    literature: Vec<LiteraturePart>,
    /// As text: they are written beside one another.
    #[schemars(with = "Vec<RunPart>")]
    runs: Vec<Box<RawValue>>,
    tables: Vec<Table>,
    /// What `switchcost audit --format json` said of running programs.
    audits: &'a [AuditAnswer],
    /// What is left out for want of room.
    notes: Vec<String>,
}

/// A column, and what it holds.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ColumnPart {
    title: &'static str,
    meaning: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Experiment")]
struct ExperimentPart {
    name: &'static str,
    /// Heading of its figures.
    title: &'static str,
    /// The same in few words.
    short: &'static str,
    /// The same as the title of a column.
    column: &'static str,
    /// What one unit is, where a mechanism's page says nothing else.
    unit: &'static str,
    /// Name of what its figures are of.
    quantity: &'static str,
    /// Its figures are those of batches.
    batches: bool,
    /// Names of what is added to the figure.
    parts: &'static [String],
    /// Names of what is reported beside it.
    beside: &'static [String],
    /// Where two mechanisms are looked at it belongs to the answer.
    asked: bool,
    /// It is about the contexts, not about switching to them.
    of_contexts: bool,
    /// It has moments fixed beforehand: a small figure is an early one.
    paced: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Placement")]
struct PlacementPart {
    name: String,
    title: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FamilyPart<'a> {
    id: &'a str,
    title: &'a str,
    /// The mechanism that stands for it.
    example: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct MechanismPart<'a> {
    title: &'a str,
    /// A few words.
    short: &'a str,
    /// A program can choose it.
    choice: bool,
    iteration: &'a str,
    includes: &'a str,
    notes: &'a [String],
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Literature")]
struct LiteraturePart {
    mechanism: String,
    #[serde(flatten)]
    value: PublishedPart,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "RunData", title = "RunData")]
struct RunPart {
    source: String,
    /// Word of the axis of a sweep.
    axis: Option<String>,
    /// Costs that this run holds all layers of, as `switchcost explain --format json` gives them.
    explained: Vec<ExplainedPart>,
    #[serde(flatten)]
    document: Document,
    /// One for each of `results`.
    details: Vec<DetailPart>,
}

/// What a picture of a row needs besides its figures.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Detail")]
struct DetailPart {
    family: String,
    control: bool,
    expected: Option<ExpectedPart>,
    /// Round, position, seconds since the run's start, 1 if it counts, then minimum, p10, median,
    /// p90 and maximum.
    starts: Vec<(u64, u64, f64, u8, [f64; 5])>,
    /// What disturbed a start, or its verdict if that is not verified, by its position.
    remarks: BTreeMap<u64, String>,
    batches: Vec<f64>,
    histogram: Vec<(f64, u64)>,
    /// First third of the starts against the last, as a fraction.
    drift: Option<f64>,
    /// What stands in each of the page's `columns`.
    cells: Vec<String>,
    /// Of the notes those that change how the figure is read.
    caveats: Vec<String>,
    /// Words for what limits conclusions from it.
    limits: Vec<&'static str>,
}

/// What must hold for the claim to be believed.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Expected")]
struct ExpectedPart {
    turns: bool,
    kernel_switches: Option<(f64, f64)>,
    same_cpu_hops: Option<(f64, f64)>,
    address_spaces: Option<u64>,
}

/// The columns of the page's tables.
fn shown() -> impl Iterator<Item = (&'static Column, &'static Shown)> {
    COLUMNS.iter().filter_map(|column| Some((column, column.shown.as_ref()?)))
}

/// Puts it together.
pub fn data<'a>(page: &Page<'a>, catalogue: &'a Catalogue) -> serde_json::Result<Data<'a>> {
    with_room(page, catalogue, MOST_POINTS)
}

fn with_room<'a>(page: &Page<'a>, catalogue: &'a Catalogue, mut points: usize) -> serde_json::Result<Data<'a>> {
    let seen: BTreeSet<&MechanismId> =
        page.runs.iter().flat_map(|one| one.run.variants.iter().map(|variant| &variant.mechanism)).collect();
    let mut notes = Vec::new();
    let tables = tables(page.runs, &mut notes);
    let mut room = MOST_STARTS;
    let detailed = |one: &Analysis<'_>| {
        let left = room.checked_sub(one.run.invocations.len());
        room = left.unwrap_or(room);
        left.is_some()
    };
    let detailed: Vec<bool> = page.runs.iter().map(detailed).collect();
    let silent = detailed.iter().filter(|detailed| !**detailed).count();
    let each = page.runs.par_iter().zip(page.sources).zip(&detailed);
    let mut runs: Vec<RunPart> =
        each.map(|((analysis, source), detailed)| run_part(analysis, source, *detailed, catalogue)).collect();
    let cut = runs.iter_mut().filter_map(|part| part.document.fit_shapes(&mut points).then_some(())).count();
    if silent > 0 {
        notes.push(format!(
            "{silent} of {} runs are shown without their single starts, to keep the page small; make a page of fewer runs to see them.",
            runs.len()
        ));
    }
    if cut > 0 {
        notes.push(format!(
            "{cut} of {} runs are shown without some of their curves or CPU pairs, to keep the page small; see `switchcost show` for those.",
            runs.len()
        ));
    }
    Ok(Data {
        format: 1,
        tool: page.tool,
        made_by: page.command,
        shares: &SHARES,
        columns: shown().map(|(column, shown)| ColumnPart { title: shown.title, meaning: column.meaning }).collect(),
        experiments: Experiment::all().into_iter().map(experiment_part).collect(),
        placements: Placement::all().into_iter().map(placement_part).collect(),
        quantities: quantities().into_iter().map(Quantity::measure).collect(),
        families: catalogue.families.iter().map(family_part).collect(),
        mechanisms: mechanisms(&seen, catalogue),
        literature: published().iter().filter_map(|value| literature(value, &seen)).collect(),
        runs: runs.par_iter().map(serde_json::value::to_raw_value).collect::<Result<_, _>>()?,
        tables,
        audits: page.audits,
        notes,
    })
}

fn experiment_part(experiment: Experiment) -> ExperimentPart {
    let page = experiment.page();
    ExperimentPart {
        name: experiment.as_str(),
        title: &page.title,
        short: &page.short,
        column: &page.column,
        unit: &page.unit,
        quantity: &page.quantity.measure().name,
        batches: !page.in_one_batch(),
        parts: &page.parts,
        beside: &page.beside,
        // A wake-up is of a timer, and no part of what a context costs.
        asked: !page.asked.is_empty() && !page.paced,
        of_contexts: page.of_contexts,
        paced: page.paced,
    }
}

fn placement_part(placement: Placement) -> PlacementPart {
    PlacementPart { name: placement.to_string(), title: placement.choice() }
}

fn family_part(family: &Family) -> FamilyPart<'_> {
    let example = family.example.as_ref().map(MechanismId::as_str);
    FamilyPart { id: &family.id, title: &family.title, example }
}

fn mechanisms<'a>(seen: &BTreeSet<&MechanismId>, catalogue: &'a Catalogue) -> BTreeMap<&'a str, MechanismPart<'a>> {
    let part = |id: &&MechanismId| {
        let mechanism = catalogue.find(id)?;
        let part = MechanismPart {
            title: &mechanism.title,
            short: &mechanism.short,
            choice: mechanism.is_choice(),
            iteration: &mechanism.iteration,
            includes: &mechanism.includes,
            notes: &mechanism.notes,
        };
        Some((mechanism.id.as_str(), part))
    };
    seen.iter().filter_map(part).collect()
}

fn literature(value: &Published, seen: &BTreeSet<&MechanismId>) -> Option<LiteraturePart> {
    let mechanism = value.mechanism.clone()?;
    let here = seen.iter().any(|id| id.as_str() == mechanism);
    here.then(|| LiteraturePart { mechanism, value: published_part(value) })
}

fn run_part(analysis: &Analysis<'_>, source: &str, detailed: bool, catalogue: &Catalogue) -> RunPart {
    let of = |row| detail_part(row, if detailed { detail(row) } else { Detail::default() }, analysis, catalogue);
    let details = analysis.shown().map(of).collect();
    let mut document = document(analysis);
    document.forget_starts();
    let axis = analysis.run.request.axis.clone();
    RunPart { source: source.to_owned(), axis, explained: explained(analysis, catalogue), document, details }
}

fn detail_part(row: &Row<'_>, detail: Detail<'_>, analysis: &Analysis<'_>, catalogue: &Catalogue) -> DetailPart {
    let variant = row.variant;
    let remark = |Start { invocation: said, .. }: &Start<'_>| {
        let mut words: Vec<String> = said.disturbances.iter().map(|what| format!("{}: {what}", what.kind())).collect();
        if said.judgement.verdict != switchcost_model::Verdict::Verified {
            words.insert(0, said.judgement.verdict.to_string());
        }
        (!words.is_empty()).then(|| (said.sequence, words.join("; ")))
    };
    let point = |&Start { invocation: said, counted, spread }: &Start<'_>| {
        let at = said.started_unix_ns.saturating_sub(analysis.run.started_unix_ns) as f64 / 1e9;
        Some((said.round, said.sequence, short(at), u8::from(counted), spread?.map(short)))
    };
    DetailPart {
        family: variant.mechanism.family().to_owned(),
        control: row.control,
        expected: expected(variant, catalogue),
        remarks: detail.starts.iter().filter_map(remark).collect(),
        starts: detail.starts.iter().filter_map(point).collect(),
        batches: detail.batches.into_iter().map(short).collect(),
        histogram: detail.histogram.into_iter().map(|(value, count)| (short(value), count)).collect(),
        drift: detail.drift,
        cells: shown().map(|(_, shown)| shown.cell(row)).collect(),
        caveats: row.caveats.iter().map(ToString::to_string).collect(),
        // The verdict stands beside them, and says that it is not observed.
        limits: row.conditions().into_iter().filter(|one| *one != Condition::Unobserved).map(Condition::word).collect(),
    }
}

fn expected(variant: &Variant, catalogue: &Catalogue) -> Option<ExpectedPart> {
    let rule = catalogue.find(&variant.mechanism)?.rule(variant);
    Some(ExpectedPart {
        turns: rule.turns,
        kernel_switches: rule.kernel_switches,
        same_cpu_hops: rule.same_cpu_hops,
        address_spaces: rule.address_spaces,
    })
}

#[cfg(test)]
mod tests;
