//! One line per row, with a header; empty cells where there is no figure.

use super::Format;
use crate::text::Style;
use switchcost_analysis::{Analysis, Quantity};

/// CSV.
pub struct Csv;

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn purpose(&self) -> &'static str {
        "One line per row"
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        let text = csv(analysis).map_err(|error| error.to_string())?;
        Ok(Style::PLAIN.sealed(&text))
    }
}

fn csv(analysis: &Analysis<'_>) -> Result<String, Box<dyn std::error::Error>> {
    let mut writer = csv_writer()?;
    for row in analysis.shown() {
        let variant = row.variant;
        let summary = &row.summary;
        let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.6}"));
        let of = |wanted: Quantity| summary.figures.as_ref().filter(|_| row.quantity == wanted);
        let (figures, memory) = (of(Quantity::Time), of(Quantity::Memory));
        let split = analysis.split_of(row.index);
        let interval = figures.and_then(|figures| figures.interval);
        let memory_interval = memory.and_then(|figures| figures.interval);
        let parameters: Vec<String> =
            variant.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cpus: Vec<String> = summary.cpus.iter().map(u32::to_string).collect();
        let record = [
            analysis.run.id.clone(),
            variant.mechanism.to_string(),
            variant.probe.clone(),
            variant.experiment.to_string(),
            variant.contexts.to_string(),
            variant.placement.to_string(),
            variant.timing.to_string(),
            parameters.join(" "),
            row.unit.clone(),
            row.verdict.to_string(),
            number(figures.map(|f| f.median)),
            number(interval.map(|i| i.low)),
            number(interval.map(|i| i.high)),
            number(figures.map(|f| f.min)),
            number(figures.map(|f| f.mean)),
            number(figures.map(|f| f.p90)),
            number(figures.map(|f| f.p99)),
            number(figures.map(|f| f.mad)),
            number(row.times_cheapest),
            number(summary.kernel.map(|kernel| kernel.per_unit)),
            cpus.join(" "),
            row.starts.len().to_string(),
            summary.samples.to_string(),
            row.reason.clone(),
            number(split.and_then(|split| analysis.rows[split.control].median())),
            number(split.and_then(|split| analysis.rows[split.direct].median())),
            number(split.and_then(|split| split.indirect)),
            number(split.and_then(|split| split.interval).map(|i| i.low)),
            number(split.and_then(|split| split.interval).map(|i| i.high)),
            analysis.relation(variant.placement).unwrap_or_default().to_owned(),
            number(memory.map(|f| f.median)),
            number(memory_interval.map(|i| i.low)),
            number(memory_interval.map(|i| i.high)),
            row.label.clone(),
        ];
        writer.write_record(&record)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn csv_writer() -> Result<::csv::Writer<Vec<u8>>, ::csv::Error> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let header = [
        "run",
        "mechanism",
        "probe",
        "experiment",
        "contexts",
        "placement",
        "timing",
        "parameters",
        "unit",
        "verdict",
        "median_ns",
        "low_ns",
        "high_ns",
        "min_ns",
        "mean_ns",
        "p90_ns",
        "p99_ns",
        "mad_ns",
        "times_cheapest",
        "kernel_switches_per_unit",
        "cpus",
        "invocations",
        "samples",
        "reason",
        "control_ns",
        "direct_ns",
        "indirect_ns",
        "indirect_low_ns",
        "indirect_high_ns",
        "relation",
        "median_bytes",
        "low_bytes",
        "high_bytes",
        "label",
    ];
    writer.write_record(header)?;
    Ok(writer)
}
