//! `budget`: which mechanism can afford so many switches.

use crate::arguments::parse_precision;
use clap::Parser;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};
use switchcost_analysis::number::roughly;
use switchcost_analysis::{Analysis, Demand, Fit, Offer, Row, offer, usable};
use switchcost_catalogue::{Catalogue, grammar};
use switchcost_model::{Mechanism, Parameters, Quantity, Run, Timing, Verdict, Wanted, measuring};
use switchcost_report::{Bid, Budgeted, Missing, budget_json, budget_text};
use switchcost_session::arguments::{ListFormat, StoreOption, parse_budget};
use switchcost_session::{Action, Exit, Failure, Installation, Stored, expected, measure, output, paths, request};

/// Which mechanisms can afford a rate of switches between a number of contexts?
///
/// Answers from stored measurements of this machine. Ranked are only mechanisms that a program can choose and that were measured with as many
/// contexts; from other sizes there are guesses, shown apart. CPU time is the rate times the mean cost.
#[derive(Parser, Debug)]
#[command(name = "budget")]
pub struct Budget {
    /// Switches a second, such as 200k/s
    #[arg(long, value_name = "N/s", value_parser = parse_rate)]
    pub rate: f64,
    /// Contexts alive at once, such as 10k
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub contexts: u64,
    /// Memory that a context touches between two switches, such as 16K
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub working_set: Option<u64>,
    /// Also show the 99th percentile of uncontended consecutive switches, beside the one wished for, such as 50us; it decides nothing
    #[arg(long, value_name = "TIME", value_parser = parse_latency)]
    pub latency_p99: Option<Duration>,
    /// Largest share of a CPU that switching may take
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = parse_precision)]
    pub cpu: f64,
    /// First measure all that is missing, and say how long that takes
    #[arg(long)]
    pub measure: bool,
    /// Time limit for measuring [default: three times what it should take, at least 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub budget: Option<Duration>,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
    /// Database of runs
    #[command(flatten)]
    pub store: StoreOption,
}

/// Rounds of what --measure measures.
const ROUNDS: u64 = 10;

/// Time limit where none is given: several times what it should take, and this at least.
const SHORTEST_LIMIT: Duration = Duration::from_secs(60);

/// The common parameter that is the memory which a context touches between switches.
const WORKING_SET: &str = "working_set";

/// What every step needs.
struct Budgeting<'a> {
    demand: Demand,
    catalogue: &'a Catalogue,
    /// Runs of this machine, newest first.
    runs: Vec<Analysis<'a>>,
}

impl Action for Budget {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        let installation = Installation::find()?;
        let catalogue = installation.catalogue()?;
        let store = paths::store(self.store.store.as_deref())?;
        let demand = Demand {
            rate: self.rate,
            contexts: self.contexts,
            working_set: self.working_set,
            latency_ns: self.latency_p99.map(|time| time.as_nanos() as f64),
            cpu: self.cpu,
        };
        let with = |runs: &[Run], then: &mut dyn FnMut(&Budgeting<'_>) -> Result<(), Failure>| {
            let runs = runs.iter().map(|run| Analysis::new(run, &catalogue)).collect();
            then(&Budgeting { demand, catalogue: &catalogue, runs })
        };
        if self.measure {
            let runs = all_runs(&store)?;
            with(&runs, &mut |budgeting| {
                let (wanted, _) = budgeting.missing();
                if wanted.is_empty() {
                    return Ok(());
                }
                let time = expected(&wanted, ROUNDS, &runs);
                let limit = self.budget.unwrap_or_else(|| SHORTEST_LIMIT.max(time * 3));
                output::say(&format!(
                    "measuring {} rows first, about {}; at most {} (--budget)",
                    wanted.len(),
                    roughly(time),
                    roughly(limit)
                ));
                measure(&wanted, &request(limit, Some(ROUNDS)), &installation, &catalogue, &store).map(|_| ())
            })?;
        }
        let runs = all_runs(&store)?;
        with(&runs, &mut |budgeting| {
            let answer = budgeting.answer(&runs)?;
            output::print(&match self.format {
                ListFormat::Table => budget_text(&answer, output::style()),
                ListFormat::Json => budget_json(&answer),
            })
        })?;
        Ok(Exit::Fine)
    }
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

impl Budgeting<'_> {
    fn choices(&self) -> impl Iterator<Item = &Mechanism> {
        self.catalogue.mechanisms.iter().filter(|mechanism| mechanism.is_choice())
    }

    fn answer(&self, runs: &[Run]) -> Result<Budgeted, Failure> {
        let bids = self.choices().map(|mechanism| self.bid(mechanism));
        let mut bids: Vec<Bid> = bids.filter(|bid| bid.offer.cpu.is_some()).collect();
        if bids.is_empty() {
            return Err(Failure::nothing(
                "no measurement of this machine is stored; measure first, with `switchcost run` or --measure",
            ));
        }
        // Stable: guesses stay in the catalogue's order, since their costs cannot be ranked.
        let guess = |bid: &Bid| bid.offer.fit(&self.demand) == Fit::Guess;
        let rank = |bid: &Bid| bid.offer.cpu.as_ref().filter(|_| !guess(bid)).map_or(f64::INFINITY, |cpu| cpu.value);
        bids.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        let (wanted, failed) = self.missing();
        let missing =
            Missing { rows: wanted.iter().map(ToString::to_string).collect(), time: expected(&wanted, ROUNDS, runs) };
        Ok(Budgeted { demand: self.demand, bids, missing, failed })
    }

    fn bid(&self, mechanism: &Mechanism) -> Bid {
        let mut from = BTreeSet::new();
        let own = self.rows(mechanism, &mut from);
        let memory_of = mechanism.contexts_of.as_ref();
        let others = memory_of.and_then(|id| self.catalogue.find(id)).map(|other| self.rows(other, &mut from));
        let offer = offer(&self.demand, WORKING_SET, &own, others.as_ref().unwrap_or(&own));
        Bid {
            label: mechanism.id.to_string(),
            memory_of: memory_of.filter(|_| offer.memory.is_some()).map(ToString::to_string),
            offer,
            runs: from.into_iter().collect(),
        }
    }

    /// Rows of the mechanism as it is by default, but for ring size and working set.
    fn rows(&self, mechanism: &Mechanism, from: &mut BTreeSet<String>) -> Vec<&Row<'_>> {
        let usual = |(name, value): (&String, &String)| {
            name == WORKING_SET || mechanism.parameters.get(name).is_some_and(|parameter| parameter.default == *value)
        };
        let belongs = |row: &&Row<'_>| {
            row.variant.mechanism == mechanism.id
                && row.variant.placement == mechanism.placements[0]
                && !row.variant.is_twin()
                && row.variant.parameters.iter().all(usual)
                && usable(row).is_ok()
        };
        let mut found = Vec::new();
        for analysis in &self.runs {
            let rows: Vec<&Row<'_>> = analysis.rows.iter().filter(belongs).collect();
            if !rows.is_empty() {
                from.insert(analysis.run.id.clone());
            }
            found.extend(rows);
        }
        found
    }

    /// What would have to be measured for an answer without guesses, as far as it can be measured here; and what was tried and cannot, with its
    /// reason.
    fn missing(&self) -> (Vec<Wanted>, Vec<(String, String)>) {
        let installed = |mechanism: &Mechanism| {
            mechanism.implemented_by.iter().any(|source| self.catalogue.sources.values().any(|here| here == source))
        };
        let (mut wanted, mut failed) = (Vec::new(), Vec::new());
        for mechanism in self.choices().filter(|mechanism| installed(mechanism)) {
            for row in self.lacking(mechanism, &self.bid(mechanism).offer) {
                match self.tried(&row) {
                    _ if wanted.contains(&row) => {}
                    Some(reason) => failed.push((row.to_string(), reason)),
                    None => wanted.push(row),
                }
            }
        }
        (wanted, failed)
    }

    fn lacking(&self, mechanism: &Mechanism, offer: &Offer) -> Vec<Wanted> {
        let lacks = |answer: &Option<switchcost_analysis::Answer>| !answer.is_some_and(|answer| answer.measured);
        let mut plain = Wanted::plain(mechanism.id.clone(), mechanism.placements[0]);
        plain.contexts = Some(self.demand.contexts);
        if let Some(size) = self.demand.working_set
            && mechanism.parameters.get(WORKING_SET).is_some_and(|known| known.accepts(&size.to_string()).is_ok())
        {
            plain.parameters = Parameters::from([(WORKING_SET.to_owned(), size.to_string())]);
        }
        let lender = mechanism.contexts_of.as_ref().and_then(|id| self.catalogue.find(id)).unwrap_or(mechanism);
        let memory = measuring(Quantity::MEMORY).filter(|experiment| lender.experiments.contains(experiment));
        let memory = memory.map(|experiment| Wanted {
            experiment,
            contexts: Some(self.demand.contexts),
            ..Wanted::plain(lender.id.clone(), lender.placements[0])
        });
        let each = Wanted { timing: Timing::Each, ..plain.clone() };
        [
            lacks(&offer.cpu).then_some(plain),
            (self.demand.latency_ns.is_some() && lacks(&offer.p99)).then_some(each),
            memory.filter(|_| lacks(&offer.memory)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Why the newest run that tried this row, more than once, has no figure of it.
    fn tried(&self, wanted: &Wanted) -> Option<String> {
        let mechanism = self.catalogue.find(&wanted.mechanism)?;
        let brief = |row: &Row<'_>| {
            let medians = &row.summary.invocation_medians;
            medians.first().is_some_and(|(first, _)| medians.iter().all(|(round, _)| round == first))
        };
        let tried = |row: &&Row<'_>| row.verdict != Verdict::Unmeasured && !brief(row);
        let mut rows = self.runs.iter().flat_map(|analysis| &analysis.rows);
        usable(rows.find(|row| tried(row) && wanted.fits(row.variant, mechanism))?).err()
    }
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = grammar::scaled(text.strip_suffix("/s").unwrap_or(text), 1000.0);
    rate.filter(|rate| (0.001..=1e10).contains(rate))
        .ok_or_else(|| "it is a number of switches per second, such as 500/s, 200k/s or 1.5M/s".into())
}

fn parse_count(text: &str) -> Result<u64, String> {
    let count = grammar::count(text).filter(|count| (2..=100_000_000).contains(count));
    count.ok_or_else(|| "it is a number from 2 to 100M, such as 500 or 10k".into())
}

fn parse_size(text: &str) -> Result<u64, String> {
    let size = grammar::size(text).filter(|size| (1..=1_000_000_000_000).contains(size));
    size.ok_or_else(|| "it is a number of bytes, such as 4096, 16K or 1M".into())
}

fn parse_latency(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).ok().filter(|time| !time.is_zero());
    time.ok_or_else(|| "it is a time with a unit, such as 50us or 2ms".into())
}

#[cfg(test)]
mod tests {
    use super::{parse_count, parse_latency, parse_rate, parse_size};

    #[test]
    fn numbers_with_units() {
        assert_eq!(["500/s", "200k/s", "1.5M"].map(parse_rate), [Ok(500.0), Ok(200_000.0), Ok(1_500_000.0)]);
        assert_eq!((parse_count("10k"), parse_size("16K"), parse_size("1MiB")), (Ok(10_000), Ok(16_384), Ok(1 << 20)));
        for wrong in ["", "k", "-1", "nan", "inf", "1e99", "1,5"] {
            assert!(parse_rate(wrong).is_err() && parse_count(wrong).is_err() && parse_size(wrong).is_err(), "{wrong}");
        }
        assert!(parse_count("1").is_err() && parse_count("2.5").is_err() && parse_latency("50").is_err());
    }
}
