//! The text form of Go's benchmarks (<https://go.dev/design/14313-benchmark-format>), which
//! `benchstat` and its like read.

use super::Format;
use super::ladder::limits;
use crate::columns::limited_by;
use crate::text::Style;
use std::fmt::Write as _;
use switchcost_analysis::Analysis;
use switchcost_model::{Variant, harmless};

/// For benchstat.
pub struct Benchstat;

impl Format for Benchstat {
    fn name(&self) -> &'static str {
        "benchstat"
    }

    fn purpose(&self) -> &'static str {
        "Go's benchmark text, one line per start: for benchstat"
    }

    fn write(&self, analysis: &Analysis<'_>, _: Style) -> Result<String, String> {
        Ok(benchstat(analysis))
    }
}

/// One line per start: starts are what repeats, so that benchstat's test is over process starts, as
/// ours are.
///
/// The name carries the whole variant, so that equal rows of two files meet. Its last part is never
/// a number after a hyphen, which readers would take for GOMAXPROCS.
fn benchstat(analysis: &Analysis<'_>) -> String {
    let run = analysis.run;
    let fact = |name: &str| run.machine.stable.get(name).map_or_else(|| "unknown".to_owned(), |value| harmless(value));
    // Of `key: value` lines, readers put files apart that differ in any; what differs from run to
    // run is a comment.
    let mut out = format!(
        "# switchcost run {} on kernel {}, method {}\ngoos: linux\ngoarch: {}\npkg: switchcost\ncpu: {}\n\n",
        run.id,
        fact("kernel.release"),
        run.method_version,
        goarch(&fact("kernel.architecture")),
        fact("cpu.model_name")
    );
    // Writing to memory does not fail.
    for caution in limits(analysis) {
        let _ = writeln!(out, "# {caution}");
    }
    for row in analysis.originals() {
        let unit = format!("{}/op", row.quantity.unit);
        let (name, limits) = (capital(row.variant), limited_by(row).join(" "));
        if !limits.is_empty() {
            let _ = writeln!(out, "# {name}: {limits}");
        }
        for (_, median) in &row.summary.invocation_medians {
            let _ = writeln!(out, "Benchmark{name} 1 {median:.4} {unit}");
        }
    }
    Style::PLAIN.sealed(&out)
}

fn goarch(architecture: &str) -> &str {
    match architecture {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// After `Benchmark` the format asks for a capital.
fn capital(variant: &Variant) -> String {
    let mut name = name(variant);
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name
}

/// `thread/pipe/probe=gcc-12/experiment=switch/contexts=2/timing=batch/payload=8/placement=one_cpu`:
/// the whole variant without a blank, so that equal rows of two runs meet. A label does not do for
/// that: it leaves out what all rows of its run have in common.
fn name(variant: &Variant) -> String {
    let mut name = format!(
        "{}/probe={}/experiment={}/contexts={}/timing={}",
        variant.mechanism, variant.probe, variant.experiment, variant.contexts, variant.timing
    );
    for (parameter, value) in &variant.parameters {
        name.push_str(&format!("/{parameter}={}", value.replace('/', "_")));
    }
    format!("{name}/placement={}", variant.placement).replace(' ', "_")
}
