//! `budget`: which mechanism can afford so many switches.

use super::wanted::{Stored, measure, request};
use crate::arguments::{self, ListFormat};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::paths::{self, Installation};
use std::collections::BTreeSet;
use std::path::Path;
use switchcost_analysis::{Analysis, Demand, Offer, Row, offer, usable};
use switchcost_catalogue::{AuditData, Catalogue};
use switchcost_model::{Experiment, Mechanism, Parameters, Run, Timing, Wanted};
use switchcost_report::{Bid, Budgeted, budget_json, budget_text};

/// Answers.
pub fn budget(arguments: &arguments::Budget) -> Result<Exit, Failure> {
    let installation = Installation::find()?;
    let catalogue = installation.catalogue()?;
    let data = installation.audit_data(&catalogue)?;
    let store = paths::store(arguments.store.store.as_deref())?;
    let demand = Demand {
        rate: arguments.rate,
        contexts: arguments.contexts,
        working_set: arguments.working_set,
        latency_ns: arguments.latency_p99.map(|time| time.as_nanos() as f64),
        cpu: arguments.cpu,
    };
    if arguments.measure {
        let runs = all_runs(&store).unwrap_or_default();
        let analyses = analysed(&runs, &catalogue);
        let wanted: Vec<Wanted> = catalogue
            .mechanisms
            .iter()
            .flat_map(|mechanism| {
                let offer = stored_offer(&analyses, mechanism, &demand, &data).0;
                lacking(&demand, mechanism, &offer, &data)
            })
            .collect();
        if !wanted.is_empty() {
            measure(&wanted, &request(arguments.budget, None), &installation, &catalogue, &store)?;
        }
    }
    let runs = all_runs(&store)?;
    let answer = answer(&demand, &catalogue, &data, &analysed(&runs, &catalogue))?;
    output::print(&match arguments.format {
        ListFormat::Table => budget_text(&answer, output::style()),
        ListFormat::Json => budget_json(&answer),
    })?;
    Ok(Exit::Fine)
}

/// Every run of this machine, newest first.
fn all_runs(store: &Path) -> Result<Vec<Run>, Failure> {
    let mut runs = Vec::new();
    Stored::open(store, |_: &_| true)?.find(None, |run| {
        runs.push(run.clone());
        None::<()>
    })?;
    Ok(runs)
}

fn analysed<'r>(runs: &'r [Run], catalogue: &Catalogue) -> Vec<Analysis<'r>> {
    runs.iter().map(|run| Analysis::new(run, catalogue)).collect()
}

fn answer(
    demand: &Demand,
    catalogue: &Catalogue,
    data: &AuditData,
    runs: &[Analysis<'_>],
) -> Result<Budgeted, Failure> {
    let mut bids: Vec<Bid> = catalogue
        .mechanisms
        .iter()
        .filter(|mechanism| !mechanism.control)
        .filter_map(|mechanism| {
            let (offer, runs) = stored_offer(runs, mechanism, demand, data);
            let missing = lacking(demand, mechanism, &offer, data).iter().map(Wanted::command).collect();
            offer.cpu.is_some().then(|| Bid { label: mechanism.id.to_string(), offer, runs, missing })
        })
        .collect();
    if bids.is_empty() {
        return Err(Failure::nothing(
            "no measurement of this machine is stored; measure first, with `switchcost run` or --measure",
        ));
    }
    let share = |bid: &Bid| bid.offer.cpu.as_ref().map_or(f64::INFINITY, |answer| answer.value.value);
    bids.sort_by(|a, b| share(a).total_cmp(&share(b)));
    let mut notes = vec![format!(
        "a mechanism fits if it takes at most {:.0} % of a CPU (--cpu) and its p99 is within --latency-p99; memory is shown, not judged",
        demand.cpu * 100.0
    )];
    let unmeasured = catalogue.mechanisms.iter().filter(|mechanism| !mechanism.control).count() - bids.len();
    if unmeasured > 0 {
        notes.push(format!("{unmeasured} mechanisms have no stored measurement; `switchcost run --all` makes one of those that run here"));
    }
    Ok(Budgeted { demand: *demand, bids, notes })
}

/// What a mechanism costs in its default placement, by the rows that runs have of it.
fn stored_offer(
    runs: &[Analysis<'_>],
    mechanism: &Mechanism,
    demand: &Demand,
    data: &AuditData,
) -> (Offer, Vec<String>) {
    let mut from = BTreeSet::new();
    let mut rows: Vec<&Row<'_>> = Vec::new();
    for analysis in runs {
        for row in &analysis.rows {
            if belongs(row, mechanism, &data.indirect_parameter) && usable(row).is_ok() {
                from.insert(analysis.run.id.clone());
                rows.push(row);
            }
        }
    }
    (offer(demand, &data.indirect_parameter, &rows), from.into_iter().collect())
}

/// The row shows the mechanism as it is by default, but for ring size and working set.
fn belongs(row: &Row<'_>, mechanism: &Mechanism, working_set: &str) -> bool {
    let usual = |(name, value): (&String, &String)| {
        name == working_set || mechanism.parameters.get(name).is_some_and(|parameter| parameter.default == *value)
    };
    row.variant.mechanism == mechanism.id
        && row.variant.placement == mechanism.placements[0]
        && !row.variant.is_twin()
        && row.variant.parameters.iter().all(usual)
}

/// What would have to be measured for an answer without extrapolation.
fn lacking(demand: &Demand, mechanism: &Mechanism, offer: &Offer, data: &AuditData) -> Vec<Wanted> {
    if mechanism.control || !mechanism.experiments.contains(&Experiment::Switch) {
        return Vec::new();
    }
    let exact =
        |answer: &Option<switchcost_analysis::Answer>| answer.as_ref().is_some_and(|a| a.extrapolated.is_empty());
    let mut plain = Wanted::plain(mechanism.id.clone(), mechanism.placements[0]);
    plain.contexts = Some(demand.contexts);
    if let Some(size) = demand.working_set
        && mechanism
            .parameters
            .get(&data.indirect_parameter)
            .is_some_and(|parameter| parameter.accepts(&size.to_string()).is_ok())
    {
        plain.parameters = Parameters::from([(data.indirect_parameter.clone(), size.to_string())]);
    }
    let mut all = Vec::new();
    if !exact(&offer.cpu) {
        all.push(plain.clone());
    }
    if demand.latency_ns.is_some() && !exact(&offer.p99) {
        all.push(Wanted { timing: Timing::Each, ..plain.clone() });
    }
    if mechanism.experiments.contains(&Experiment::Footprint) && !exact(&offer.memory) {
        all.push(Wanted { experiment: Experiment::Footprint, parameters: Parameters::new(), ..plain });
    }
    all
}
