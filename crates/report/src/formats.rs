//! The forms in which a run can be written. A form is a file here and a line in [`FORMATS`].

mod bencher;
mod benchstat;
mod brief;
mod csv;
mod format;
mod github_action_benchmark;
pub(crate) mod json;
mod names;
mod prometheus;
pub(crate) mod table;

pub use format::Format;

/// Every form, the usual one first.
pub const FORMATS: &[&dyn Format] = &[
    &brief::Terminal,
    &json::Json,
    &csv::Csv,
    &table::Markdown,
    &benchstat::Benchstat,
    &bencher::Bencher,
    &github_action_benchmark::GithubActionBenchmark,
    &prometheus::Prometheus,
];
