//! One line a row.

use crate::curves::Shapes;
use crate::number::Quantity;
use crate::rows::lines;
use crate::text::Style;
use switchcost_catalogue::Catalogue;
use switchcost_model::Run;

/// The rows of a run as CSV with a header; empty cells where there is no figure.
///
/// # Panics
/// Never: writing to memory does not fail.
#[must_use]
pub fn csv(run: &Run, catalogue: &Catalogue) -> String {
    let run = &run.told();
    let mut writer = csv_writer();
    let shapes = Shapes::of(run, catalogue);
    for line in lines(run, catalogue) {
        let variant = line.row.variant;
        let summary = &line.row.summary;
        let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.6}"));
        let quantity = Quantity::of(variant.experiment);
        let of = |wanted: Quantity| summary.figures.as_ref().filter(|_| quantity == wanted);
        let (figures, memory) = (of(Quantity::Time), of(Quantity::Memory));
        let split = shapes.split_of(line.row.index);
        let interval = figures.and_then(|figures| figures.interval);
        let memory_interval = memory.and_then(|figures| figures.interval);
        let parameters: Vec<String> =
            variant.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cpus: Vec<String> = summary.cpus.iter().map(u32::to_string).collect();
        let record = [
            run.id.clone(),
            variant.mechanism.to_string(),
            variant.probe.clone(),
            variant.experiment.to_string(),
            variant.contexts.to_string(),
            variant.placement.to_string(),
            variant.timing.to_string(),
            parameters.join(" "),
            line.unit,
            line.row.verdict.to_string(),
            number(figures.map(|f| f.median)),
            number(interval.map(|i| i.low)),
            number(interval.map(|i| i.high)),
            number(figures.map(|f| f.min)),
            number(figures.map(|f| f.mean)),
            number(figures.map(|f| f.p90)),
            number(figures.map(|f| f.p99)),
            number(figures.map(|f| f.mad)),
            number(line.times_cheapest),
            number(summary.kernel.map(|kernel| kernel.per_unit)),
            cpus.join(" "),
            line.row.invocations.to_string(),
            summary.samples.to_string(),
            line.row.reason.clone(),
            number(split.and_then(|split| shapes.median(split.control))),
            number(split.and_then(|split| shapes.median(split.direct))),
            number(split.and_then(|split| split.indirect)),
            number(split.and_then(|split| split.interval).map(|i| i.low)),
            number(split.and_then(|split| split.interval).map(|i| i.high)),
            shapes.relation(variant.placement).unwrap_or_default().to_owned(),
            number(memory.map(|f| f.median)),
            number(memory_interval.map(|i| i.low)),
            number(memory_interval.map(|i| i.high)),
        ];
        writer.write_record(&record).expect("memory");
    }
    let text = String::from_utf8(writer.into_inner().expect("memory")).expect("UTF-8 in, UTF-8 out");
    Style::PLAIN.sealed(&text)
}

fn csv_writer() -> ::csv::Writer<Vec<u8>> {
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
    ];
    writer.write_record(header).expect("memory");
    writer
}
