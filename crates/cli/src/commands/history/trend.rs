//! The trend of each matching row over runs.

use super::kept::{Figure, Kept, figures, key};
use super::list::name;
use crate::parallel::on_all_cpus;
use rayon::prelude::*;
use std::collections::BTreeMap;
use switchcost_analysis::{At, TrendSearch, fewest_runs, label, slower_core};
use switchcost_catalogue::Catalogue;
use switchcost_model::number::counted;
use switchcost_model::{Difference, Variant, differences};
use switchcost_report::{Trend, TrendChange, TrendMachine, TrendPoint, Trends, trends_json, trends_text};
use switchcost_session::arguments::ListFormat;
use switchcost_session::{Failure, Installation, output};
use switchcost_store::{RunHeader, Store, StoreError};

/// Runs that are read unless the user asks for more: time and random orders grow with their square.
pub const MOST_RUNS: usize = 200;

/// Facts of the machine that are named with a change, at most.
const MOST_FACTS: usize = 6;

/// A row over runs, oldest first, and of each of them the header and what the core gave it: the
/// probe whose rulers tell, and their word.
struct Series<'h> {
    trend: Trend,
    key: String,
    runs: Vec<&'h RunHeader>,
    cores: Vec<Option<(String, f64)>>,
}

/// All series, by the place of their machine and the key of their variant.
type All<'h> = BTreeMap<(usize, String), Series<'h>>;

/// Trends of the rows that `pattern` names.
pub fn trend(
    store: &Store,
    headers: Vec<RunHeader>,
    pattern: &str,
    (format, verbose): (ListFormat, bool),
    at: At,
) -> Result<String, Failure> {
    let catalogue = Installation::find()?.catalogue()?;
    let fitting = catalogue.pattern(pattern).map_err(Failure::usage)?;
    let mut notes: Vec<String> = at.sentence().into_iter().collect();
    let mut headers = same_method(headers, &mut notes);
    let imported = headers.iter().filter(|header| header.imported).count();
    if (1..headers.len()).contains(&imported) {
        notes.push(format!("{imported} of {} runs were imported.", headers.len()));
    }
    let mut machines: Vec<TrendMachine> = Vec::new();
    for header in &headers {
        let key = header.machine.id();
        if !machines.iter().any(|machine| machine.key == key) {
            machines.push(TrendMachine { key, name: name(header) });
        }
    }
    headers.reverse();
    let harmless = format == ListFormat::Table;
    let wanted = |variant: &Variant| !variant.is_twin() && fitting.fits(variant, &label(variant, &catalogue, false));
    let found = worked_out(store, &headers, &catalogue, (at, harmless), &wanted, &mut notes)?;
    let mut all = All::new();
    for (header, figures) in headers.iter().zip(found) {
        let key = header.machine.id();
        let machine = machines.iter().position(|machine| machine.key == key).unwrap_or_default();
        for figure in figures.into_iter().filter(|figure| wanted(&figure.variant)) {
            add(&mut all, (machine, &key), header, figure);
        }
    }
    if all.is_empty() {
        let known = catalogue.mechanisms.iter().any(|mechanism| fitting.names_mechanism(&mechanism.id));
        let near = if known { String::new() } else { catalogue.did_you_mean(fitting.name()) };
        let (figure, cure) = match at {
            At::Median => ("a figure".to_owned(), String::new()),
            at => (format!("a {at}"), format!(" ({})", at.needs())),
        };
        return Err(Failure::usage(format!(
            "none of {} stored runs has {figure} for `{pattern}`{cure}{near}; `switchcost history` lists the runs, `show RUN` their rows",
            headers.len()
        )));
    }
    let count = all.len();
    let mut series: Vec<Series<'_>> = all.into_values().collect();
    set_slowed(&mut series);
    distinguish(&mut series);
    let mut search = TrendSearch::new(count);
    let trends: Vec<Trend> = series.into_iter().map(|series| judged(series, &mut search)).collect();
    machines.retain(|machine| trends.iter().any(|trend| trend.machine == machine.key));
    if trends.iter().all(|trend| trend.changes.is_empty()) {
        notes.insert(0, unchanged(&trends, fewest_runs(count)));
    }
    let method_version = headers.last().map_or(0, |header| header.method_version);
    let document = Trends { method_version, at, machines, trends, notes };
    Ok(match format {
        ListFormat::Table => trends_text(&document, verbose, output::style()),
        ListFormat::Json => trends_json(&document),
    })
}

/// That no row changed, or that no row has as many runs as it takes to tell.
fn unchanged(trends: &[Trend], fewest: usize) -> String {
    let is_judged = |point: &&TrendPoint| point.reason.is_none();
    let judged = |trend: &Trend| trend.points.iter().filter(is_judged).count();
    let most = trends.iter().map(judged).max().unwrap_or(0);
    if most == 0 {
        return "None of these runs can be judged, so no change can be found.".to_owned();
    }
    if most < fewest {
        let all = trends.iter().map(|trend| trend.points.len()).max().unwrap_or(0);
        let of_all = if all == most { String::new() } else { format!(" of {all} that can be judged") };
        let runs = if most == 1 { format!("1 run{of_all} is") } else { format!("{most} runs{of_all} are") };
        return format!("{runs} too few to find a change, which takes {fewest}; two runs: switchcost compare RUN RUN");
    }
    let rows = counted(trends.len(), "row");
    let drift = if trends.iter().any(|trend| trend.undecided > 0) {
        "; inconclusive where drift looks like a change"
    } else {
        ""
    };
    format!("No change of level found in {rows} over {most} runs{drift}.")
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

/// The figures of each of these runs, of one without a wanted row none: kept ones, and what is not
/// kept is worked out on all CPUs.
fn worked_out(
    store: &Store,
    headers: &[RunHeader],
    catalogue: &Catalogue,
    (at, harmless): (At, bool),
    wanted: &(dyn Fn(&Variant) -> bool + Sync),
    notes: &mut Vec<String>,
) -> Result<Vec<Vec<Figure>>, Failure> {
    let mut kept = Kept::open(catalogue, &(at.to_string(), harmless));
    let keys =
        headers.iter().map(|header| key(store, header)).collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?;
    let mut found: Vec<Option<Vec<Figure>>> = keys.iter().map(|key| kept.get(key)).collect();
    let missing: Vec<usize> = (0..headers.len()).filter(|&index| found[index].is_none()).collect();
    let work = |store: &mut Result<Store, StoreError>, &index: &usize| {
        let store = store.as_ref().map_err(Failure::usage)?;
        let known = StoreError::unless_later(store.load_if(&headers[index].id, wanted)).map_err(Failure::usage)?;
        let Some(mut run) = known else { return Ok((index, None)) };
        if harmless {
            run.make_harmless();
        }
        let whole = run.variants.iter().any(wanted);
        Ok((index, Some(whole.then(|| figures(&run, catalogue, at)))))
    };
    let path = store.path();
    let open = || Store::open_read_only(path);
    let new = on_all_cpus(|| missing.par_iter().map_init(open, work).collect::<Result<Vec<_>, Failure>>())??;
    for (index, known) in new {
        if let Some(Some(figures)) = &known {
            kept.put(&headers[index], &keys[index], figures);
        }
        if known.is_none() {
            notes.push(format!("Run {} is of a later version and left out.", headers[index].id));
        }
        found[index] = known.flatten();
    }
    kept.save(store);
    Ok(found.into_iter().map(Option::unwrap_or_default).collect())
}

fn add<'h>(all: &mut All<'h>, machine: (usize, &str), header: &'h RunHeader, figure: Figure) {
    let series = all.entry((machine.0, figure.key.clone())).or_insert_with(|| Series {
        trend: Trend {
            machine: machine.1.to_owned(),
            label: figure.label,
            unit: figure.unit,
            quantity: figure.variant.experiment.quantity,
            points: Vec::new(),
            changes: Vec::new(),
            undecided: 0,
            autocorrelation: None,
        },
        key: figure.key,
        runs: Vec::new(),
        cores: Vec::new(),
    });
    let changed = series.runs.last().map(|before| differences(&before.machine, &header.machine));
    let changed = changed.unwrap_or_default().iter().map(Difference::to_string).collect();
    series.runs.push(header);
    series.cores.push(figure.core);
    let single = figure.modes.is_empty();
    series.trend.points.push(TrendPoint {
        run: header.id.clone(),
        started_unix_ns: header.started_unix_ns,
        median: single.then_some(figure.median),
        interval: figure.interval.filter(|_| single),
        modes: figure.modes,
        invocations: figure.starts,
        kernel: header.fact("kernel.release").to_owned(),
        software: header.software_key(),
        changed,
        slowed: None,
        reason: figure.reason,
    });
}

/// How much slower the core was in each run than in the best of its machine; figures of runs that
/// it was slower throughout are not judged.
fn set_slowed(all: &mut [Series<'_>]) {
    let mut best: BTreeMap<(String, String), f64> = BTreeMap::new();
    let place = |trend: &Trend, probe: &String| (trend.machine.clone(), probe.clone());
    for series in all.iter() {
        for (probe, core) in series.cores.iter().flatten() {
            let best = best.entry(place(&series.trend, probe)).or_insert(*core);
            *best = best.min(*core);
        }
    }
    for Series { trend, cores, .. } in all {
        for (at, (probe, core)) in cores.iter().enumerate().filter_map(|(at, core)| Some((at, core.as_ref()?))) {
            let best = best[&place(trend, probe)];
            let point = &mut trend.points[at];
            point.slowed = Some(core / best);
            let throughout = slower_core(*core, best).map(|times| format!("slowed throughout, ×{times:.2}"));
            point.reason = point.reason.take().or(throughout);
        }
    }
}

/// Two series of a machine with one label: what their labels leave out is added, as far as they
/// differ in it.
fn distinguish(all: &mut [Series<'_>]) {
    let mut same: BTreeMap<(String, String), Vec<&mut Series<'_>>> = BTreeMap::new();
    for series in all {
        same.entry((series.trend.machine.clone(), series.trend.label.clone())).or_default().push(series);
    }
    for mut alike in same.into_values().filter(|alike| alike.len() > 1) {
        let keys: Vec<String> = alike.iter().map(|series| series.key.clone()).collect();
        let shared = |word: &str| keys.iter().all(|key| key.split(' ').any(|other| other == word));
        for (series, key) in alike.iter_mut().zip(&keys) {
            let own = key.split(' ').filter(|word| !shared(word));
            series.trend.label = [series.trend.label.as_str()].into_iter().chain(own).collect::<Vec<_>>().join(" ");
        }
    }
}

/// Searches a series for changes. Figures without an interval, or without evidence, are shown and
/// not judged.
fn judged(series: Series<'_>, search: &mut TrendSearch) -> Trend {
    let Series { mut trend, runs, .. } = series;
    let sound: Vec<usize> = (0..trend.points.len()).filter(|&i| trend.points[i].reason.is_none()).collect();
    let figures: Vec<f64> = sound.iter().filter_map(|&i| trend.points[i].median).collect();
    let found = search.trend(&figures);
    (trend.undecided, trend.autocorrelation) = (found.undecided, found.autocorrelation);
    trend.changes = found
        .changes
        .into_iter()
        .map(|change| {
            let (before, after) = (sound[change.at - 1], sound[change.at]);
            TrendChange {
                before: trend.points[before].run.clone(),
                after: trend.points[after].run.clone(),
                ratio: change.ratio,
                interval: change.interval,
                p: change.p,
                changed_with_it: between(runs[before], runs[after]),
            }
        })
        .collect();
    trend
}

/// What the two runs say of themselves that differs.
fn between(before: &RunHeader, after: &RunHeader) -> Vec<String> {
    let mut all = Vec::new();
    if before.tool_version != after.tool_version {
        all.push(format!("switchcost: {} → {}", before.tool_version, after.tool_version));
    }
    all.extend(differences(&before.machine, &after.machine).iter().map(Difference::to_string));
    let more = all.len().saturating_sub(MOST_FACTS);
    all.truncate(MOST_FACTS);
    if more > 0 {
        all.push(format!("{more} more facts"));
    }
    all
}
