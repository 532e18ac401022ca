//! The JSON object that scripts rely on; its schema is generated from these types.

mod seen;
mod shapes;

use self::seen::{SeenByPart, seen_by};
use self::shapes::{CurvePart, MatrixPart};
use super::Format;
use crate::text::Style;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use switchcost_analysis::{Analysis, Quantity, Row};
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
    /// Largest difference that equal things showed in this run (its A/A pair), as a fraction; null: too few rounds, or one row only.
    noise_floor: Option<f64>,
    /// The same by family, for those that have an A/A pair of their own.
    noise_floors: BTreeMap<String, f64>,
    /// Why the A/A pair makes differences of this run meaningless; null if it does not.
    unstable: Option<String>,
    /// Target half-width of intervals, as a fraction of the median.
    precision: f64,
    budget_s: f64,
}

/// Fingerprint of the machine.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct MachinePart {
    /// Equal for runs of the same machine in the same set-up; what `history --machine` takes.
    key: String,
    /// Facts that identify the machine and its set-up.
    stable: BTreeMap<String, String>,
    /// Facts that change from minute to minute.
    drifting: BTreeMap<String, String>,
    /// Facts about a person; absent from shareable files.
    personal: BTreeMap<String, String>,
    findings: Vec<model::Finding>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ResultPart {
    mechanism: String,
    probe: String,
    /// Compiler, runtime and flags as the probe reports them; null if it never answered.
    build: Option<BuildPart>,
    /// switch, create, message or footprint.
    experiment: String,
    /// contexts (integer), placement, timing, and the mechanism's own parameters.
    parameters: BTreeMap<String, Value>,
    /// Short name, unique within the run.
    label: String,
    /// What one unit is: switch, iteration, context or round trip.
    unit: String,
    /// verified, contradicted, unobservable, unsupported or broken.
    verdict: String,
    /// Why not verified; empty if verified.
    reason: String,
    /// Starts of the probe.
    invocations: usize,
    /// Batches (timing each: intervals) behind the figures.
    samples: u64,
    /// ns per unit; null if there is no figure, and for experiment footprint.
    ns_per_switch: Option<FiguresPart>,
    /// Only for experiment footprint: resident_bytes, virtual_bytes, kernel_bytes of one live, suspended context.
    bytes_per_context: BTreeMap<String, f64>,
    /// Only with timing each.
    each: Option<EachPart>,
    evidence: EvidencePart,
    /// What the host saw of a start by itself, beside what the probe said of it: the first start whose verdict is the row's. Null without any.
    seen_by: Option<SeenByPart>,
    /// Median ÷ median of the cheapest verified real switch of the run.
    times_cheapest: Option<f64>,
    /// Batches left out as warm-up beyond the planned warm-up.
    warmup_batches: u64,
    /// Invocations left out because something disturbed them.
    disturbed: usize,
    /// Largest resident set of the probe's largest process, bytes.
    peak_rss_bytes: u64,
    notes: Vec<String>,
}

/// A number or a word.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Value {
    Integer(u64),
    Text(String),
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct BuildPart {
    version: String,
    runtime: String,
    compiler: Option<String>,
    flags: Option<String>,
    clock: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FiguresPart {
    /// Median of the invocations' medians.
    median: f64,
    /// Lower end of its 95 % interval; null with fewer than 6 invocations.
    low: Option<f64>,
    /// Upper end.
    high: Option<f64>,
    min: f64,
    mean: f64,
    p90: f64,
    p99: f64,
    mad: f64,
    /// Median of each invocation that counts, with its round.
    invocation_medians: Vec<(u64, f64)>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct EachPart {
    /// Cost of two counter reads in the same loop, ns; already taken off median and mean.
    pair_ns: f64,
    p50: f64,
    p999: f64,
    max: f64,
    count: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct EvidencePart {
    /// Voluntary + involuntary; null if it could not be observed.
    kernel_switches_per_switch: Option<f64>,
    involuntary_share: Option<f64>,
    cpus: Vec<u32>,
    /// Share of verified hops that stayed on one CPU.
    same_cpu_hops: Option<f64>,
    /// Turns counted by the contexts and the token's sequence number agree with the claim; null if not counted.
    turns_ok: Option<bool>,
}

fn time(unix_ns: i64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or_default().to_string()
}

impl From<&model::Machine> for MachinePart {
    fn from(machine: &model::Machine) -> Self {
        Self {
            key: machine.key(),
            stable: machine.stable.clone(),
            drifting: machine.drifting.clone(),
            personal: machine.personal.clone(),
            findings: machine.findings.clone(),
        }
    }
}

impl Document {
    /// For a page, which has medians in another form and shows nothing else of single starts.
    pub(crate) fn forget_starts(&mut self) {
        self.results.iter_mut().for_each(|result| result.seen_by = None);
        for figures in self.results.iter_mut().filter_map(|result| result.ns_per_switch.as_mut()) {
            figures.invocation_medians.clear();
        }
    }

    /// Leaves out curves and matrices for which this number of points leaves no room; true: some were left out.
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
            partial: run.partial(),
            tool_version: run.tool_version.clone(),
            method_version: run.method_version,
            command: run.command.clone(),
            noise_floor: noise.floor,
            noise_floors: noise.families.clone(),
            unstable: noise.unstable.clone(),
            precision: run.precision_ppm as f64 / 1e6,
            budget_s: run.budget_ms as f64 / 1e3,
        },
        machine: (&run.machine).into(),
        results: analysis.shown().map(result).collect(),
        curves,
        matrices,
        warnings: analysis.warnings.clone(),
    }
}

fn result(row: &Row<'_>) -> ResultPart {
    let variant = row.variant;
    let mut parameters: BTreeMap<String, Value> =
        variant.parameters.iter().map(|(name, value)| (name.clone(), Value::Text(value.clone()))).collect();
    parameters.insert("contexts".into(), Value::Integer(variant.contexts));
    parameters.insert("placement".into(), Value::Text(variant.placement.to_string()));
    parameters.insert("timing".into(), Value::Text(variant.timing.to_string()));
    let summary = &row.summary;
    let hello = row.starts.iter().find_map(|start| start.transcript.hello.as_ref());
    ResultPart {
        mechanism: variant.mechanism.to_string(),
        probe: variant.probe.clone(),
        build: hello.map(|hello| BuildPart {
            version: hello.version.clone(),
            runtime: hello.runtime.clone(),
            compiler: hello.compiler.clone(),
            flags: hello.flags.clone(),
            clock: hello.clock.name.clone(),
        }),
        experiment: variant.experiment.to_string(),
        parameters,
        label: row.label.clone(),
        unit: row.unit.clone(),
        verdict: row.verdict.to_string(),
        reason: row.reason.clone(),
        invocations: row.starts.len(),
        samples: summary.samples,
        bytes_per_context: summary.footprint.clone(),
        ns_per_switch: summary.figures.as_ref().filter(|_| row.quantity == Quantity::Time).map(|figures| FiguresPart {
            median: figures.median,
            low: figures.interval.map(|interval| interval.low),
            high: figures.interval.map(|interval| interval.high),
            min: figures.min,
            mean: figures.mean,
            p90: figures.p90,
            p99: figures.p99,
            mad: figures.mad,
            invocation_medians: summary.invocation_medians.clone(),
        }),
        each: summary.each.as_ref().map(|each| EachPart {
            pair_ns: each.pair_ns,
            p50: each.p50,
            p999: each.p999,
            max: each.max,
            count: each.count,
        }),
        evidence: EvidencePart {
            kernel_switches_per_switch: summary.kernel.map(|kernel| kernel.per_unit),
            involuntary_share: summary.kernel.map(|kernel| kernel.involuntary_share),
            cpus: summary.cpus.iter().copied().collect(),
            same_cpu_hops: summary.same_cpu_share,
            turns_ok: summary.turns_ok,
        },
        seen_by: seen_by(row),
        times_cheapest: row.times_cheapest,
        warmup_batches: summary.warmup_batches,
        disturbed: summary.disturbed,
        peak_rss_bytes: summary.peak_rss_bytes,
        notes: row.notes.clone(),
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

    fn is_told(&self) -> bool {
        false
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        serde_json::to_string_pretty(&document(analysis)).map(|text| text + "\n").map_err(|error| error.to_string())
    }
}

/// JSON Schema of [`Json`]'s object.
///
/// # Panics
/// Never: the schema is plain data.
#[must_use]
pub fn schema() -> String {
    let mut text = serde_json::to_string_pretty(&schemars::schema_for!(Document)).expect("plain data");
    text.push('\n');
    text
}
