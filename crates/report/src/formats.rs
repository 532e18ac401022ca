//! The forms in which a run can be written. A form is a file here and a line in [`FORMATS`].

mod benchstat;
mod csv;
mod format;
pub(crate) mod json;
pub(crate) mod ladder;
mod prometheus;

pub use format::Format;

/// Every form, the usual one first.
pub const FORMATS: &[&dyn Format] =
    &[&ladder::Terminal, &json::Json, &csv::Csv, &ladder::Markdown, &benchstat::Benchstat, &prometheus::Prometheus];
