//! The columns of a row. Each is named, given its unit and computed here; the tables, CSV, JSON and
//! the page read it here.

mod cells;

pub use cells::figure_of;
pub(crate) use cells::{beside, cpus, ctx_switches, figure, interval};

use crate::answer::Cell;
use cells::*;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use switchcost_analysis::{Analysis, Condition, Row};
use switchcost_model::{Reason, Value as Amount};
use switchcost_stats::Mode;

/// What is known of every row.
pub struct Column {
    /// Its key in JSON and in the header of CSV.
    pub name: &'static str,
    /// What it holds, with its unit.
    pub meaning: &'static str,
    /// How the page's table shows it; None: it does not.
    pub shown: Option<Shown>,
    of: Of,
}

/// How the page's table shows a column.
pub struct Shown {
    /// What stands above it.
    pub title: &'static str,
    cell: fn(&Row<'_>) -> Cell,
}

type Get<T> = fn(&Analysis<'_>, &Row<'_>) -> T;

/// How it is computed; this also says its type.
enum Of {
    Text(Get<String>),
    Word(Get<Option<String>>),
    Count(Get<u64>),
    Number(Get<Option<f64>>),
    Flag(Get<Option<bool>>),
    Cpus(Get<Vec<u32>>),
    Words(Get<BTreeMap<String, String>>),
    Amounts(Get<BTreeMap<String, f64>>),
    Modes(Get<Vec<Mode>>),
    Conditions,
}

const fn column(name: &'static str, of: Of, meaning: &'static str) -> Column {
    Column { name, meaning, shown: None, of }
}

impl Column {
    const fn shown(self, title: &'static str, cell: fn(&Row<'_>) -> Cell) -> Self {
        Self { shown: Some(Shown { title, cell }), ..self }
    }

    /// The value as JSON.
    pub fn value(&self, analysis: &Analysis<'_>, row: &Row<'_>) -> Value {
        match self.of {
            Of::Text(get) => json!(get(analysis, row)),
            Of::Word(get) => json!(get(analysis, row)),
            Of::Count(get) => json!(get(analysis, row)),
            Of::Number(get) => json!(get(analysis, row)),
            Of::Flag(get) => json!(get(analysis, row)),
            Of::Cpus(get) => json!(get(analysis, row)),
            Of::Words(get) => json!(get(analysis, row)),
            Of::Amounts(get) => json!(get(analysis, row)),
            Of::Modes(get) => get(analysis, row).iter().map(|mode| json!([mode.value, mode.weight])).collect(),
            Of::Conditions => json!(row.conditions()),
        }
    }

    /// The value as a field of CSV: empty where there is none, lists and maps with blanks between.
    pub fn field(&self, analysis: &Analysis<'_>, row: &Row<'_>) -> String {
        let number = |value: f64| format!("{value:.6}");
        match self.of {
            Of::Text(get) => get(analysis, row),
            Of::Word(get) => get(analysis, row).unwrap_or_default(),
            Of::Count(get) => get(analysis, row).to_string(),
            Of::Number(get) => get(analysis, row).map(number).unwrap_or_default(),
            Of::Flag(get) => get(analysis, row).map(|flag| flag.to_string()).unwrap_or_default(),
            Of::Cpus(get) => joined(get(analysis, row).iter().map(u32::to_string)),
            Of::Words(get) => joined(get(analysis, row).iter().map(|(name, value)| format!("{name}={value}"))),
            Of::Amounts(get) => {
                joined(get(analysis, row).iter().map(|(name, value)| format!("{name}={}", number(*value))))
            }
            Of::Modes(get) => {
                joined(get(analysis, row).iter().map(|mode| format!("{}={}", number(mode.value), number(mode.weight))))
            }
            Of::Conditions => joined(limited_by(row).into_iter()),
        }
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let mut schema = match self.of {
            Of::Text(_) => json_schema!({ "type": "string" }),
            Of::Word(_) => json_schema!({ "type": ["string", "null"] }),
            Of::Count(_) => json_schema!({ "type": "integer", "minimum": 0 }),
            Of::Number(_) => json_schema!({ "type": ["number", "null"] }),
            Of::Flag(_) => json_schema!({ "type": ["boolean", "null"] }),
            Of::Cpus(_) => json_schema!({ "type": "array", "items": { "type": "integer", "minimum": 0 } }),
            Of::Words(_) => json_schema!({ "type": "object", "additionalProperties": { "type": "string" } }),
            Of::Amounts(_) => json_schema!({ "type": "object", "additionalProperties": { "type": "number" } }),
            Of::Modes(_) => {
                let pair =
                    json_schema!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 });
                json_schema!({ "type": "array", "items": pair })
            }
            Of::Conditions => generator.subschema_for::<Vec<Condition>>(),
        };
        schema.insert("description".into(), self.meaning.into());
        schema
    }
}

impl Shown {
    /// What stands in it.
    pub fn cell(&self, row: &Row<'_>) -> String {
        match (self.cell)(row) {
            Cell::Value(value) => value.to_string(),
            _ => Amount::Unknown.to_string(),
        }
    }
}

fn joined(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

/// What limits the row, as words that stay when others are worded better.
pub(crate) fn limited_by(row: &Row<'_>) -> Vec<String> {
    let code = |condition| json!(condition)["condition"].as_str().unwrap_or_default().to_owned();
    row.conditions().into_iter().map(code).collect()
}

/// A figure of every row that has any.
macro_rules! figure {
    ($name:literal, $field:ident, $meaning:literal) => {
        column($name, Of::Number(|_, row| Some(figures(row)?.$field)), $meaning)
    };
}

/// Every column, in the order of CSV and of the tables.
pub static COLUMNS: &[Column] = &[
    column("run", Of::Text(|analysis, _| analysis.run.id.clone()), "Id of the run."),
    column("label", Of::Text(|_, row| row.label.clone()), "Short name, unique within the run.")
        .shown("mechanism", |row| row.label.as_str().into()),
    column("mechanism", Of::Text(|_, row| row.variant.mechanism.to_string()), "family/name."),
    column("probe", Of::Text(|_, row| row.variant.probe.clone()), "Probe that carries it out.")
        .shown("probe", |row| row.variant.probe.as_str().into()),
    column(
        "experiment",
        Of::Text(|_, row| row.variant.experiment.to_string()),
        "What is measured: switch, or another experiment by its name.",
    ),
    column("contexts", Of::Count(|_, row| row.variant.contexts), "Contexts in the ring, or kept."),
    column("placement", Of::Text(|_, row| row.variant.placement.to_string()), "Where the contexts run: a placement by its name, or pair:A-B."),
    column("timing", Of::Text(|_, row| row.variant.timing.to_string()), "batch or each."),
    column("parameters", Of::Words(|_, row| row.variant.parameters.clone()), "The mechanism's own parameters."),
    column(
        "quantity",
        Of::Text(|_, row| row.quantity.name.to_string()),
        "What the figures are of: time, in ns; memory, in bytes; or what an experiment has of its own.",
    ),
    column(
        "unit",
        Of::Text(|_, row| row.unit.clone()),
        "What the figures are per: switch, iteration, context, round trip.",
    ),
    column(
        "median",
        Of::Number(|_, row| Some(single(row)?.median)),
        "The headline: median of the starts' figures; null if there is no figure, or no single one: a row with modes is not one number. Where at least 6 starts have batches beside which the machine's rulers ran at its best speed, by these alone; then, of a row that follows the clock, at the clock that a fifth of the run's batches had, or a faster one. In ns or bytes per unit, like all figures.",
    )
    .shown("median", cost),
    column(
        "low",
        Of::Number(|_, row| Some(single(row)?.interval?.low)),
        "Lower end of the 95 % interval of the median; null with fewer than 6 starts, of starts that follow one another too closely, and where there is no median.",
    )
    .shown("95 % interval", interval),
    column("high", Of::Number(|_, row| Some(single(row)?.interval?.high)), "Upper end."),
    column(
        "range_low",
        Of::Number(|_, row| Some(row.range()?.0)),
        "Least start of a row whose starts follow one another so closely that no interval of their median holds; else null.",
    ),
    column("range_high", Of::Number(|_, row| Some(row.range()?.1)), "Greatest start of such a row."),
    column(
        "another_run_low",
        Of::Number(|_, row| Some(row.another_run()?.0)),
        "Where the median of another run of the same hour lies in 95 % of cases, clock for clock if the row follows it, lower end: both runs' intervals and what rows of the family scatter by between runs.",
    ),
    column("another_run_high", Of::Number(|_, row| Some(row.another_run()?.1)), "Upper end."),
    column(
        "as_measured",
        Of::Number(|_, row| Some(measured(row)?.0)),
        "Median of the starts' medians of all batches as they were read; equal to the median where no undisturbed batches stand for the row; null where these fall into modes.",
    ),
    column("as_measured_low", Of::Number(|_, row| Some(measured(row)?.1?.low)), "Lower end of its 95 % interval."),
    column("as_measured_high", Of::Number(|_, row| Some(measured(row)?.1?.high)), "Upper end."),
    column(
        "follows_clock",
        Of::Flag(|_, row| row.undisturbed.as_ref()?.follows_clock),
        "Whether the row's batches follow the clock of the core, by the ruler chain; null where that is not to be told, most often because the clock stood still. Figures of two runs of such a row are alike clock for clock: divided by what chain took at that clock.",
    ),
    column(
        "slowed",
        Of::Number(|_, row| Some(row.undisturbed.as_ref()?.slowed)),
        "Share of batches beside which a ruler took more than 1.1 times its best of this run.",
    ),
    column(
        "rulers",
        Of::Amounts(|_, row| row.undisturbed.as_ref().map_or_else(BTreeMap::new, |found| found.rulers.clone())),
        "Ruler (chain: the clock; width: what the core takes per cycle; calls: system calls that do nothing) and its median beside these batches ÷ its best.",
    ),
    column(
        "modes",
        Of::Modes(|_, row| row.summary.modes.clone()),
        "Kinds of starts (or of batches, see modes_of): figure and share of each, cheapest first. Empty where one number stands for the row; otherwise it has no median.",
    ),
    column(
        "modes_of",
        Of::Word(|_, row| {
            let of = if row.summary.modes_within { "batches" } else { "starts" };
            (!row.summary.modes.is_empty()).then(|| of.to_owned())
        }),
        "What the modes are kinds of: starts, or batches, where a start goes from one to the other.",
    ),
    column("min", Of::Number(|_, row| figures(row)?.min), "Cheapest batch; with timing each the shortest interval, null where reading the counter leaves nothing of it.")
        .shown("min", |row| figure(row, figures(row).and_then(|figures| figures.min))),
    figure!("mean", mean, "Mean of the starts' means."),
    column(
        "mean_over_time",
        Of::Number(|_, row| figures(row)?.mean_over_time),
        "Of a free row: mean over time, each ns alike, from the beginning of each start for as long as the shortest of them lasted.",
    ),
    figure!("p50", p50, "Median of all batches; of single units that of a start, median over starts."),
    column("p90", Of::Number(|_, row| figures(row)?.p90), "90th percentile of batches; of single units that of a start, median over starts; null where too few carry it."),
    column("p99", Of::Number(|_, row| figures(row)?.p99), "99th percentile, likewise.")
        .shown("p99", |row| figure(row, figures(row).and_then(|figures| figures.p99))),
    column("p999", Of::Number(|_, row| figures(row)?.p999), "99.9th percentile, likewise."),
    column(
        "percentiles",
        Of::Amounts(|_, row| percentiles(row)),
        "Only where each unit has a figure: p50 to p99.99 of a start, as far as starts carry them (ten units beyond), and its longest, each as the median over starts with the units of these starts and the ends of its 95 % interval: p99, p99_n, p99_low, p99_high.",
    ),
    figure!("max", max, "Most expensive batch; with timing each the longest interval."),
    figure!("mad", mad, "Median absolute deviation of the starts' medians."),
    column(
        "reading",
        Of::Number(|_, row| Some(figures(row)?.reading.as_ref()?.pair)),
        "Only with timing each: cost of two counter reads in the same loop, ns, already taken off every figure.",
    ),
    column(
        "parts",
        Of::Amounts(|_, row| row.summary.parts.clone()),
        "Only where the figure is not time: its parts per unit, such as resident, virtual and kernel bytes of one live, suspended context.",
    ),
    column(
        "times_reference",
        Of::Number(|_, row| Some(row.times_reference?.ratio)),
        "× the run's switch of the reference mechanism (mechanisms/families.toml): median of the ratios round by round, as compare gives it; null across units, and for rows with modes.",
    )
    .shown("× reference", |row| row.times_reference.map_or(Amount::Unknown, beside).into()),
    column(
        "times_reference_low",
        Of::Number(|_, row| Some(row.times_reference?.interval?.0)),
        "Lower end of its 95 % interval; null where compare gives none.",
    ),
    column("times_reference_high", Of::Number(|_, row| Some(row.times_reference?.interval?.1)), "Upper end."),
    column(
        "control",
        Of::Number(|analysis, row| analysis.rows[split(analysis, row)?.control].median()),
        "Part of the median: the parameter's own work, without a switch.",
    ),
    column(
        "direct",
        Of::Number(|analysis, row| analysis.rows[split(analysis, row)?.direct].median()),
        "Part of the median: the same mechanism with the parameter at 0.",
    ),
    column(
        "indirect",
        Of::Number(|analysis, row| split(analysis, row)?.indirect),
        "Part of the median: what is left, median over rounds.",
    ),
    column(
        "indirect_low",
        Of::Number(|analysis, row| Some(split(analysis, row)?.interval?.low)),
        "Lower end of its 95 % interval.",
    ),
    column("indirect_high", Of::Number(|analysis, row| Some(split(analysis, row)?.interval?.high)), "Upper end."),
    column(
        "kernel_switches",
        Of::Number(|_, row| Some(row.summary.kernel?.per_unit)),
        "Kernel switches per unit, voluntary and involuntary; null if they could not be observed.",
    )
    .shown("ctx switches", ctx_switches),
    column(
        "involuntary_share",
        Of::Number(|_, row| Some(row.summary.kernel?.involuntary_share)),
        "Share of them that was involuntary.",
    ),
    column("cpus", Of::Cpus(|_, row| row.summary.cpus.iter().copied().collect()), "CPUs on which a context was seen.")
        .shown("CPUs", cpus),
    column(
        "relation",
        Of::Word(|analysis, row| analysis.relation(row.variant.placement).map(str::to_owned)),
        "What the CPUs of a pair share: same_cpu, smt_sibling, same_cache, same_socket or cross_socket; null for other placements, and where the machine's facts do not tell.",
    ),
    column(
        "same_cpu_hops",
        Of::Number(|_, row| row.summary.same_cpu_share),
        "Share of verified switches that stayed on one CPU.",
    ),
    column(
        "turns_ok",
        Of::Flag(|_, row| row.summary.turns_ok),
        "Turns counted by the contexts and the token's sequence number agree with the claim; null if not counted.",
    ),
    column("starts", Of::Count(|_, row| row.starts.len() as u64), "Starts of the probe.")
        .shown("starts", |row| row.starts.len().into()),
    column(
        "disturbed",
        Of::Count(|_, row| row.summary.disturbed as u64),
        "Starts left out because something disturbed them.",
    ),
    column(
        "disturbed_counted",
        Of::Count(|_, row| row.summary.disturbed_counted as u64),
        "Starts that something disturbed and that count, since too few others are left.",
    ),
    column(
        "samples",
        Of::Count(|_, row| row.summary.samples),
        "Batches behind the figures; with timing each, intervals.",
    ),
    column(
        "warmup_batches",
        Of::Count(|_, row| row.summary.warmup_batches),
        "Batches left out as warm-up beyond the planned warm-up.",
    ),
    column(
        "peak_rss_bytes",
        Of::Count(|_, row| row.summary.peak_rss_bytes),
        "Largest resident set of the probe's largest process, bytes.",
    ),
    column(
        "verdict",
        Of::Text(|_, row| row.verdict.to_string()),
        "verified, contradicted, unobservable, unsupported, unmeasured or broken.",
    )
    .shown("verdict", |row| row.verdict.to_string().into()),
    column("reason", Of::Text(|_, row| row.why()), "Why not verified; empty if verified."),
    column("reason_code", Of::Text(|_, row| row.reason.as_ref().map(Reason::code).unwrap_or_default()), "The same as a word that stays when the sentence is worded better; empty if verified."),
    column(
        "conditions",
        Of::Conditions,
        "What limits each conclusion that rests on the row: disturbed, slowed, drifting, few_starts, unobserved.",
    ),
];

/// The columns of one row as an object.
pub(crate) struct Columns(Vec<(&'static str, Value)>);

impl Columns {
    pub fn of(analysis: &Analysis<'_>, row: &Row<'_>) -> Self {
        Self(COLUMNS.iter().map(|column| (column.name, column.value(analysis, row))).collect())
    }
}

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl JsonSchema for Columns {
    fn schema_name() -> Cow<'static, str> {
        "Columns".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut property = |column: &Column| (column.name.to_owned(), column.schema(generator).into());
        let properties: serde_json::Map<String, Value> = COLUMNS.iter().map(&mut property).collect();
        let required: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
        json_schema!({ "type": "object", "properties": properties, "required": required })
    }
}
