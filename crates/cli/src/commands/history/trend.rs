//! The trend of each matching row over runs.

use crate::arguments::ListFormat;
use crate::exit::Failure;
use crate::output;
use crate::paths::Installation;
use std::collections::BTreeMap;
use switchcost_analysis::{Analysis, Row, fewest_runs, label, level_changes, usable};
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::Pattern;
use switchcost_model::{Run, Variant};
use switchcost_report::{Trend, TrendChange, TrendPoint, Trends, trends_json, trends_text};
use switchcost_store::{RunHeader, Store};

/// Runs that are read unless the user asks for more: time and random orders grow with their square.
pub const MOST_RUNS: usize = 200;

/// Facts of the machine that are named with a change, at most.
const MOST_FACTS: usize = 6;

/// A row over runs, oldest first, and the place of each of its runs among the headers.
struct Series {
    trend: Trend,
    runs: Vec<usize>,
}

/// Trends of the rows that `pattern` names.
pub fn trend(store: &Store, headers: Vec<RunHeader>, pattern: &str, format: ListFormat) -> Result<String, Failure> {
    let catalogue = Installation::find()?.catalogue()?;
    let fitting = Pattern::parse(pattern).map_err(Failure::usage)?;
    let mut notes = Vec::new();
    let mut headers = same_method(headers, &mut notes);
    headers.reverse();
    let mut all: BTreeMap<String, Series> = BTreeMap::new();
    for (index, header) in headers.iter().enumerate() {
        let wanted =
            |variant: &Variant| !variant.is_twin() && fitting.fits(variant, &label(variant, &catalogue, false));
        let mut run = store.load_only(&header.id, &wanted).map_err(Failure::usage)?;
        if format == ListFormat::Table {
            run.make_harmless();
        }
        for row in Analysis::new(&run, &catalogue).rows.iter().filter(|row| wanted(row.variant)) {
            add(&mut all, index, &run, row, &catalogue);
        }
    }
    if all.is_empty() {
        return Err(Failure::usage(format!(
            "none of {} stored runs has a figure for `{pattern}`; `switchcost history` lists the runs, `show RUN` their rows",
            headers.len()
        )));
    }
    let count = all.len();
    let trends: Vec<Trend> = all.into_values().map(|series| judged(series, &headers, count)).collect();
    if trends.iter().all(|trend| trend.changes.is_empty()) {
        notes.push(format!(
            "No change of level is found. One shows in {} runs at the earliest, two of them on its side; with fewer, compare two runs.",
            fewest_runs(count)
        ));
    }
    let document = Trends { method_version: headers.last().map_or(0, |header| header.method_version), trends, notes };
    Ok(match format {
        ListFormat::Table => trends_text(&document, output::style()),
        ListFormat::Json => trends_json(&document),
    })
}

/// Figures of another version of the method are another series.
fn same_method(mut headers: Vec<RunHeader>, notes: &mut Vec<String>) -> Vec<RunHeader> {
    let version = headers.iter().map(|header| header.method_version).max();
    let before = headers.len();
    headers.retain(|header| Some(header.method_version) == version);
    if headers.len() < before {
        notes.push(format!("{} runs of earlier versions of the method are left out.", before - headers.len()));
    }
    headers
}

fn add(all: &mut BTreeMap<String, Series>, index: usize, run: &Run, row: &Row<'_>, catalogue: &Catalogue) {
    let Some(median) = row.median() else { return };
    let series = all.entry(row.variant.key()).or_insert_with(|| Series {
        trend: Trend {
            label: label(row.variant, catalogue, true),
            unit: row.unit.clone(),
            quantity: row.quantity,
            points: Vec::new(),
            changes: Vec::new(),
        },
        runs: Vec::new(),
    });
    series.runs.push(index);
    series.trend.points.push(TrendPoint {
        run: run.id.clone(),
        started_unix_ns: run.started_unix_ns,
        median,
        interval: row.interval(),
        invocations: row.starts.len(),
        reason: usable(row).err(),
    });
}

/// Searches a series for changes. Figures without an interval, or without evidence, are shown and not judged.
fn judged(series: Series, headers: &[RunHeader], count: usize) -> Trend {
    let Series { mut trend, runs } = series;
    let sound: Vec<usize> = (0..trend.points.len())
        .filter(|&i| trend.points[i].reason.is_none() && trend.points[i].interval.is_some())
        .collect();
    let figures: Vec<f64> = sound.iter().map(|&i| trend.points[i].median).collect();
    trend.changes = level_changes(&figures, count)
        .into_iter()
        .map(|change| {
            let (before, after) = (sound[change.at - 1], sound[change.at]);
            TrendChange {
                before: trend.points[before].run.clone(),
                after: trend.points[after].run.clone(),
                ratio: change.ratio,
                interval: change.interval,
                p: change.p,
                changed_with_it: differences(&headers[runs[before]], &headers[runs[after]]),
            }
        })
        .collect();
    trend
}

/// What the two runs say of themselves that differs.
fn differences(before: &RunHeader, after: &RunHeader) -> Vec<String> {
    let mut all = Vec::new();
    if before.tool_version != after.tool_version {
        all.push(format!("switchcost: {} → {}", before.tool_version, after.tool_version));
    }
    for (name, value) in &after.machine {
        let was = before.machine.get(name).map_or("not known", String::as_str);
        if was != value {
            all.push(format!("{name}: {was} → {value}"));
        }
    }
    let more = all.len().saturating_sub(MOST_FACTS);
    all.truncate(MOST_FACTS);
    if more > 0 {
        all.push(format!("{more} more facts"));
    }
    all
}
