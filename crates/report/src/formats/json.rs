//! The JSON object that scripts rely on; its schema is generated from these types.

mod seen;
mod shapes;

use self::seen::{SeenByPart, seen_by};
use self::shapes::{CurvePart, MatrixPart};
use super::Format;
use super::ladder::{limits, not_counted};
use crate::columns::Columns;
use crate::text::Style;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use switchcost_analysis::{Analysis, Row, Speed, counters};
use switchcost_model as model;

/// A run with its results.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "switchcost results", deny_unknown_fields)]
pub(crate) struct Document {
    /// Version of this form. New fields do not change it.
    format: u32,
    run: RunPart,
    machine: MachinePart,
    results: Vec<ResultPart>,
    /// Rows that differ in one number only.
    curves: Vec<CurvePart>,
    /// Rows that differ in the pair of CPUs only.
    matrices: Vec<MatrixPart>,
    /// What limits the answer that `show` gives: a busy, watched or unstable machine, too few
    /// starts.
    cautions: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct RunPart {
    id: String,
    /// RFC 3339, UTC.
    started: String,
    /// RFC 3339, UTC; null while unfinished.
    ended: Option<String>,
    seed: u64,
    /// precision, rounds, budget, interrupt, nothing or unfinished.
    ended_by: String,
    /// The run did not come to its planned end.
    partial: bool,
    tool_version: String,
    method_version: u32,
    command: Vec<String>,
    /// Largest difference that equal things showed in this run (its A/A pair), as a fraction; null:
    /// too few rounds, or one row only.
    noise_floor: Option<f64>,
    /// The same by family, for those that have an A/A pair of their own.
    noise_floors: BTreeMap<String, f64>,
    /// Labels of the rows that stand for their families, cheapest first.
    representatives: Vec<String>,
    /// Label of the row that `times_reference` refers to; null: the run has no sound row of the
    /// reference mechanism.
    reference: Option<String>,
    /// Probe → ruler → ns that it took: how fast the machine was.
    speeds: BTreeMap<String, BTreeMap<String, SpeedPart>>,
    /// Clock of the measured CPU that the run kept, by the cycles of a probe's ruler chain; null:
    /// no probe knows them.
    clock_ghz: Option<f64>,
    /// Clock that the system declares; null: none.
    clock_ghz_declared: Option<f64>,
    /// The highest clock that the host measured in the runs which its store had of this machine
    /// before; null: none.
    clock_ghz_stored: Option<f64>,
    /// Why the A/A pair makes differences of this run meaningless; null if it does not.
    unstable: Option<String>,
    /// Target half-width of intervals, as a fraction of the median.
    precision: f64,
    budget_s: f64,
}

/// What a ruler took, ns.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct SpeedPart {
    /// Where the machine was fastest: the third shortest reading.
    best: f64,
    /// What it took at most beside the fastest fifth of the batches; figures are given at this
    /// clock (chain).
    kept: f64,
    /// Median beside all batches.
    median: f64,
}

/// Fingerprint of the machine.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct MachinePart {
    /// Equal for the same hardware with the same software: what stored costs may be used on.
    key: String,
    /// Equal for the same hardware; what `history --machine` takes.
    hardware_key: String,
    /// Equal for the same software and settings.
    software_key: String,
    /// Facts that identify the machine and its set-up.
    stable: BTreeMap<String, String>,
    /// Facts that change from minute to minute.
    drifting: BTreeMap<String, String>,
    /// Facts about a person; absent from shareable files.
    personal: BTreeMap<String, String>,
    findings: Vec<model::FindingText>,
}

/// A row: its columns, and what no table can hold.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Result")]
struct ResultPart {
    #[serde(flatten)]
    columns: Columns,
    /// Compiler, runtime and flags as the probe reports them; null if it never answered.
    build: Option<BuildPart>,
    /// Figure of each start that the median is made of, with its round.
    start_medians: Vec<(u64, f64)>,
    /// What the host saw of a start by itself, beside what the probe said of it: the first start
    /// whose verdict is the row's. Null without any.
    seen_by: Option<SeenByPart>,
    notes: Vec<String>,
    /// Name of the event, in user mode (`:u`) or in the kernel (`:k`) → how many a unit has,
    /// `task-clock` in ns. Absent if none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<BTreeMap<String, model::PerUnit>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Build")]
struct BuildPart {
    version: String,
    runtime: String,
    compiler: Option<String>,
    flags: Option<String>,
    clock: String,
}

/// RFC 3339, UTC.
pub(crate) fn time(unix_ns: i64) -> String {
    model::Utc::new(unix_ns).to_string()
}

impl From<&model::Machine> for MachinePart {
    fn from(machine: &model::Machine) -> Self {
        Self {
            key: machine.key(),
            hardware_key: model::hardware_key(&machine.stable),
            software_key: model::software_key(&machine.stable),
            stable: machine.stable.clone(),
            drifting: machine.drifting.clone(),
            personal: machine.personal.clone(),
            findings: machine.findings.iter().map(model::Finding::text).collect(),
        }
    }
}

impl Document {
    /// For a page, which has medians in another form and shows nothing else of single starts.
    pub(crate) fn forget_starts(&mut self) {
        for result in &mut self.results {
            (result.seen_by, result.start_medians) = (None, Vec::new());
        }
    }

    /// Leaves out curves and matrices for which this number of points leaves no room; true: some
    /// were left out.
    pub(crate) fn fit_shapes(&mut self, room: &mut usize) -> bool {
        let before = self.curves.len() + self.matrices.len();
        let mut fits = |size: usize| match room.checked_sub(size) {
            Some(left) => {
                *room = left;
                true
            }
            None => false,
        };
        self.curves.retain(|curve| fits(curve.size()));
        self.matrices.retain(|matrix| fits(matrix.size()));
        self.curves.len() + self.matrices.len() < before
    }
}

fn speeds_of(rulers: &BTreeMap<String, Speed>) -> BTreeMap<String, SpeedPart> {
    rulers
        .iter()
        .map(|(name, speed)| (name.clone(), SpeedPart { best: speed.best, kept: speed.kept, median: speed.median }))
        .collect()
}

/// A/A twins are in no result, unless their evidence speaks against them.
pub(crate) fn document(analysis: &Analysis<'_>) -> Document {
    let (run, noise) = (analysis.run, &analysis.noise);
    let (curves, matrices) = shapes::shapes(analysis);
    Document {
        format: 1,
        run: RunPart {
            id: run.id.clone(),
            started: time(run.started_unix_ns),
            ended: run.ended_unix_ns.map(time),
            seed: run.seed,
            ended_by: run.ended_by.to_string(),
            partial: analysis.partial(),
            tool_version: run.tool_version.clone(),
            method_version: run.method_version,
            command: run.command.clone(),
            noise_floor: noise.floor(),
            noise_floors: noise.families.iter().map(|(family, equals)| (family.clone(), equals.reach)).collect(),
            speeds: analysis.speeds.iter().map(|(probe, rulers)| (probe.clone(), speeds_of(rulers))).collect(),
            representatives: analysis.representatives().iter().map(|(row, _)| row.label.clone()).collect(),
            reference: analysis.reference().map(|row| row.label.clone()),
            clock_ghz: analysis.clock.map(|clock| clock.kept),
            clock_ghz_declared: analysis.clock.and_then(|clock| clock.declared),
            clock_ghz_stored: analysis.clock.and_then(|clock| clock.stored),
            unstable: noise.unstable.clone(),
            precision: run.precision_ppm as f64 / 1e6,
            budget_s: run.budget_ms as f64 / 1e3,
        },
        machine: (&run.machine).into(),
        results: analysis.shown().map(|row| result(analysis, row)).collect(),
        curves,
        matrices,
        cautions: limits(analysis),
        warnings: analysis.warnings.iter().map(ToString::to_string).collect(),
    }
}

fn result(analysis: &Analysis<'_>, row: &Row<'_>) -> ResultPart {
    let hello = row.starts.iter().find_map(|start| start.transcript.hello.as_ref());
    ResultPart {
        columns: Columns::of(analysis, row),
        build: hello.map(|hello| BuildPart {
            version: hello.version.clone(),
            runtime: hello.runtime.clone(),
            compiler: hello.compiler.clone(),
            flags: hello.flags.clone(),
            clock: hello.clock.name.clone(),
        }),
        start_medians: if row.median().is_some() { row.of_starts().to_vec() } else { Vec::new() },
        seen_by: seen_by(row),
        notes: row.notes.iter().map(ToString::to_string).chain(not_counted([&row.judged])).collect(),
        counters: counters(row).map(model::Counters::per_unit),
    }
}

/// One JSON object, indented, with a final line end.
pub struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn purpose(&self) -> &'static str {
        "One object: results, evidence, machine"
    }

    fn is_for_people(&self) -> bool {
        false
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        serde_json::to_string_pretty(&document(analysis)).map(|text| text + "\n").map_err(|error| error.to_string())
    }
}

/// JSON Schema of [`Json`]'s object.
#[must_use]
pub fn schema() -> String {
    crate::text::json(&schemars::schema_for!(Document))
}
