//! Bencher Metric Format (<https://bencher.dev/docs/reference/bencher-metric-format>): version 0, which Bencher stores, and version 1, whose entries have
//! parameters and named values.

use super::Format;
use super::names::{Figure, figures};
use crate::text::Style;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use switchcost_analysis::{Analysis, Quantity, Row};
use switchcost_model::Variant;

/// For Bencher's adapter `json`.
pub struct Bencher;

/// For the same, where a server takes version 1.
pub struct BencherV1;

impl Format for Bencher {
    fn name(&self) -> &'static str {
        "bencher"
    }

    fn purpose(&self) -> &'static str {
        "Bencher Metric Format, version 0"
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        let entry = |figure: Figure<'_, '_>| (figure.name(), json!({ measure(figure.row): bounded(&figure) }));
        let benchmarks: BTreeMap<String, Value> = figures(analysis).map(entry).collect();
        Ok(Style::PLAIN.sealed(&crate::text::json(&benchmarks)))
    }
}

impl Format for BencherV1 {
    fn name(&self) -> &'static str {
        "bencher-v1"
    }

    fn purpose(&self) -> &'static str {
        "Bencher Metric Format, version 1: parameters and named values"
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        let mut benchmarks: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for figure in figures(analysis) {
            let (row, mut parameters) = (figure.row, parameters(figure.row.variant));
            parameters.extend(figure.mode.map(|(number, _)| ("mode".to_owned(), json!(number))));
            let entry = json!({ "parameters": parameters, "measures": { measure(row): named(&figure) } });
            benchmarks.entry(row.variant.mechanism.to_string()).or_default().push(entry);
        }
        Ok(Style::PLAIN.sealed(&crate::text::json(&benchmarks)))
    }
}

/// `latency` is built in and in ns.
fn measure(row: &Row<'_>) -> &'static str {
    if row.quantity == Quantity::TIME { "latency" } else { &row.quantity.measure().name }
}

fn bounded(figure: &Figure<'_, '_>) -> Map<String, Value> {
    let mut metric = Map::from_iter([("value".to_owned(), json!(figure.value))]);
    if let Some((low, high)) = figure.interval() {
        metric.extend([("lower_value".to_owned(), json!(low)), ("upper_value".to_owned(), json!(high))]);
    }
    metric
}

/// Bencher keeps eight values of a measure: the three above, and as many more. Those of all batches are none of a single kind.
fn named(figure: &Figure<'_, '_>) -> Map<String, Value> {
    let mut metric = bounded(figure);
    if let Some(figures) = figure.row.summary.figures.as_ref().filter(|_| figure.mode.is_none()) {
        let more = [
            ("min", figures.min),
            ("mean", figures.mean),
            ("p90", figures.p90),
            ("p99", figures.p99),
            ("max", figures.max),
        ];
        metric.extend(more.map(|(name, value)| (name.to_owned(), json!(value))));
    }
    metric
}

/// All that tells rows of a mechanism apart; a number is one there as well.
fn parameters(variant: &Variant) -> Map<String, Value> {
    let own = variant.parameters.iter().map(|(name, value)| {
        let number = value.parse::<u64>().ok().filter(|number| number.to_string() == *value);
        (name.clone(), number.map_or_else(|| json!(value), |number| json!(number)))
    });
    let mut all: Map<String, Value> = own.collect();
    let common = [
        ("probe", json!(variant.probe)),
        ("experiment", json!(variant.experiment.to_string())),
        ("contexts", json!(variant.contexts)),
        ("placement", json!(variant.placement.to_string())),
        ("timing", json!(variant.timing.to_string())),
    ];
    all.extend(common.map(|(name, value)| (name.to_owned(), value)));
    all
}
