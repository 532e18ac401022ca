//! Bencher Metric Format, version 0 (<https://bencher.dev/docs/reference/bencher-metric-format>).

use super::Format;
use super::names::{Figure, figures};
use crate::text::Style;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use switchcost_analysis::{Analysis, Quantity, Row};

/// For Bencher's adapter `json`.
pub struct Bencher;

impl Format for Bencher {
    fn name(&self) -> &'static str {
        "bencher"
    }

    fn purpose(&self) -> &'static str {
        "Bencher Metric Format"
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        let entry = |figure: Figure<'_, '_>| (figure.name(), json!({ measure(figure.row): bounded(&figure) }));
        let benchmarks: BTreeMap<String, Value> = figures(analysis).map(entry).collect();
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
