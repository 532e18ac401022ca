//! Prometheus's text form (<https://prometheus.io/docs/instrumenting/exposition_formats/>), for the
//! textfile collector of node_exporter: base units, and `export -o` puts the file in its place by
//! renaming it. Each series names its run, since the collector refuses two files that hold the same
//! one.

use super::Format;
use super::ladder::limits;
use crate::columns::limited_by;
use crate::text::Style;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use switchcost_analysis::{Analysis, Row};
use switchcost_model::{Verdict, quantities};

/// For node_exporter.
pub struct Prometheus;

impl Format for Prometheus {
    fn name(&self) -> &'static str {
        "prometheus"
    }

    fn purpose(&self) -> &'static str {
        "Prometheus's text form, for node_exporter's textfile collector"
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        let mut out = String::new();
        let of_run = || ("run", analysis.run.id.clone());
        let labels = |row: &Row<'_>, own| labels(of_run(), row, own);
        // Quantities that share a base unit are one metric, which the format lists once.
        let mut listed = BTreeSet::new();
        for known in quantities().into_iter().filter(|quantity| listed.insert(quantity.base_unit.clone())) {
            for (name, meaning, value) in FIGURES {
                let rows = figures(analysis).filter(|figure| figure.row.quantity.base_unit == known.base_unit);
                let samples = rows.filter_map(|figure| {
                    Some((labels(figure.row, figure.kind()), value(&figure)? / figure.row.quantity.per_base))
                });
                let (metric, what) = (format!("switchcost_{name}{}", known.base_unit), &known.of_a_unit);
                gauge(&mut out, &metric, &format!("{what} of a unit: {meaning}."), samples);
            }
        }
        let shares = figures(analysis).filter_map(|figure| Some((labels(figure.row, figure.kind()), figure.mode?.1)));
        gauge(
            &mut out,
            "switchcost_mode_share",
            "Share of the starts (or batches) of a row that are of this kind.",
            shares,
        );
        let verified =
            analysis.shown().map(|row| (labels(row, None), f64::from(u8::from(row.verdict == Verdict::Verified))));
        gauge(&mut out, "switchcost_verified", "1: the evidence supports the claim of the row.", verified);
        let limited = analysis.shown().flat_map(|row| limited_by(row).into_iter().map(move |limit| (row, limit)));
        let limited = limited.map(|(row, limit)| (labels(row, Some(("condition", limit))), 1.0));
        gauge(&mut out, "switchcost_condition", "1: it limits each conclusion that rests on the row.", limited);
        let cautions = limits(analysis).into_iter();
        let cautions = cautions.map(|caution| (braced([of_run(), ("caution", caution)]), 1.0));
        gauge(&mut out, "switchcost_caution", "1: it limits what the run as a whole says.", cautions);
        let ended = analysis.run.ended_unix_ns.unwrap_or(analysis.run.started_unix_ns) as f64 / 1e9;
        let run = std::iter::once((braced([of_run()]), ended));
        gauge(&mut out, "switchcost_run_timestamp_seconds", "When the run ended.", run);
        Ok(Style::PLAIN.sealed(&out))
    }
}

type Gauge = (&'static str, &'static str, fn(&Figure<'_, '_>) -> Option<f64>);

/// Figures of a row: the middle of the name, its meaning, its value. A row with modes is not one
/// number, and has neither a median nor an interval.
const FIGURES: [Gauge; 4] = [
    ("", "median of the starts", |figure| figure.mode.is_none().then_some(figure.value)),
    ("low_", "lower end of the 95 % interval of the median", |figure| Some(figure.interval()?.0)),
    ("high_", "upper end of the 95 % interval of the median", |figure| Some(figure.interval()?.1)),
    ("mode_", "what one kind of its starts (or batches) costs", |figure| figure.mode.map(|_| figure.value)),
];

/// One metric with its samples; nothing where there is none.
fn gauge(out: &mut String, name: &str, help: &str, samples: impl Iterator<Item = (String, f64)>) {
    let mut samples = samples.peekable();
    if samples.peek().is_none() {
        return;
    }
    // Writing to memory does not fail.
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge");
    for (labels, value) in samples {
        let _ = writeln!(out, "{name}{labels} {value:e}");
    }
}

type Label = (&'static str, String);

/// Those of a row, with what tells this series of it from others.
fn labels(run: Label, row: &Row<'_>, own: Option<Label>) -> String {
    let variant = row.variant;
    let parameters: Vec<String> = variant.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let all = [
        ("mechanism", variant.mechanism.to_string()),
        ("probe", variant.probe.clone()),
        ("experiment", variant.experiment.to_string()),
        ("contexts", variant.contexts.to_string()),
        ("placement", variant.placement.to_string()),
        ("timing", variant.timing.to_string()),
        run,
        ("parameters", parameters.join(" ")),
        ("unit", row.unit.clone()),
    ];
    braced(all.into_iter().chain(own))
}

fn braced(labels: impl IntoIterator<Item = Label>) -> String {
    let all: Vec<String> = labels.into_iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(&value))).collect();
    format!("{{{}}}", all.join(","))
}

/// A figure that other programs may use.
struct Figure<'l, 'r> {
    row: &'l Row<'r>,
    /// Its median, or what its kind costs.
    value: f64,
    /// Number, from 1, and weight of the kind, where no single number stands for the row.
    mode: Option<(usize, f64)>,
}

impl Figure<'_, '_> {
    fn kind(&self) -> Option<Label> {
        self.mode.map(|(number, _)| ("mode", number.to_string()))
    }

    /// Ends of the interval of the median.
    fn interval(&self) -> Option<(f64, f64)> {
        self.row.interval().filter(|_| self.mode.is_none())
    }
}

/// Figures of rows that may be used: neither A/A twins nor rows whose claim is refuted. A row with
/// modes is not one number, and has a figure for each.
fn figures<'l, 'r>(analysis: &'l Analysis<'r>) -> impl Iterator<Item = Figure<'l, 'r>> {
    let believed = |row: &&Row<'_>| matches!(row.verdict, Verdict::Verified | Verdict::Unobservable);
    analysis.originals().filter(believed).flat_map(|row| {
        let modes = row.summary.modes.iter().enumerate();
        let kinds = modes.map(move |(place, mode)| (mode.value, Some((place + 1, mode.weight))));
        let single = row.one().map(|median| (median, None));
        kinds.chain(single).map(move |(value, mode)| Figure { row, value, mode })
    })
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
