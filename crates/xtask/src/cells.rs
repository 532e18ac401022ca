//! What a page says of one row.

use anyhow::bail;
use switchcost_analysis::Row;
use switchcost_analysis::number::percent;
use switchcost_model::Verdict;

/// Percentiles of rows whose units each have a figure.
const LATENCIES: [&str; 4] = ["p50", "p90", "p99", "longest"];

/// The figure with half of its interval, or those of its groups with their shares; the verdict if
/// it is not verified.
pub fn cost(row: &Row<'_>) -> String {
    let amount = |value: f64| row.quantity.amount(value);
    let modes = &row.summary.modes;
    let groups = modes.iter().map(|mode| format!("{} ({:.0} %)", amount(mode.value), mode.weight * 100.0));
    let half = || Some(format!("±{}", percent(row.summary.figures.as_ref()?.half_width()?)));
    let figure = match row.median() {
        _ if !modes.is_empty() => groups.collect::<Vec<_>>().join(" or "),
        Some(median) => format!("{} {}", amount(median), half().unwrap_or_else(|| "(no interval)".into())),
        None => return row.verdict.to_string(),
    };
    if row.verdict == Verdict::Verified { figure } else { format!("{figure}, {}", row.verdict) }
}

pub fn measured(row: &Row<'_>, quantity: &str) -> anyhow::Result<String> {
    let summary = &row.summary;
    let found = match quantity {
        "fastest" => summary.figures.as_ref().and_then(|figures| Some(row.quantity.amount(figures.min?))),
        "kernel" => summary.kernel.map(|kernel| format!("{:.2}", kernel.per_unit)),
        "moved" => summary.same_cpu_share.map(|same| percent(1.0 - same)),
        "thread" => summary.same_thread_share.map(|same| percent(1.0 - same)),
        percentile if LATENCIES.contains(&percentile) => {
            let amount = |ns: f64| row.quantity.amount(ns);
            let (found, verdict) = (summary.percentiles.iter().find(|one| one.name() == percentile), row.verdict);
            let span =
                found.and_then(|one| one.interval).map(|of| format!(" ({} – {})", amount(of.low), amount(of.high)));
            Some(found.map_or(verdict.to_string(), |one| amount(one.value)) + &span.unwrap_or_default())
        }
        _ => bail!("`{quantity}` is not a quantity"),
    };
    Ok(found.unwrap_or_else(|| "unknown".into()))
}
