//! The list that github-action-benchmark takes for its tool `customSmallerIsBetter` (<https://github.com/benchmark-action/github-action-benchmark>).

use super::Format;
use super::names::figures;
use crate::text::Style;
use serde::Serialize;
use switchcost_analysis::Analysis;

/// For github-action-benchmark.
pub struct GithubActionBenchmark;

/// One series of its charts; equal names of two runs meet.
#[derive(Serialize)]
struct Entry {
    name: String,
    unit: String,
    value: f64,
    /// Shown beside the value, never computed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    /// Shown where the point of a chart is pointed at.
    extra: String,
}

impl Format for GithubActionBenchmark {
    fn name(&self) -> &'static str {
        "github-action-benchmark"
    }

    fn purpose(&self) -> &'static str {
        "JSON for github-action-benchmark, tool customSmallerIsBetter"
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        let entries = figures(analysis).map(|figure| Entry {
            name: figure.name(),
            unit: figure.row.measure(),
            value: figure.value,
            range: figure.interval().map(|(low, high)| format!("± {:.3}", (high - low) / 2.0)),
            extra: format!(
                "run {}, {} starts, {}{}",
                analysis.run.id,
                figure.row.starts.len(),
                figure.row.verdict,
                figure.share()
            ),
        });
        Ok(Style::PLAIN.sealed(&crate::text::json(&entries.collect::<Vec<_>>())))
    }
}
