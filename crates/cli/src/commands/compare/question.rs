//! Two mechanisms by name: what a switch, making one and the memory of one cost, from what is stored, and what is missing measured now.

use super::Compare;
use super::measured::request;
use super::operands::is_called;
use std::path::Path;
use std::time::Duration;
use switchcost_analysis::FEWEST_STARTS;
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::Pattern;
use switchcost_model::{Experiment, Mechanism, Run, Wanted};
use switchcost_session::{Failure, Installation, Prepared, Stored, output, place};

/// Older figures are measured again: kernel, settings and temperature change.
const AGE: Duration = Duration::from_secs(7 * 86_400);

/// Two different mechanisms.
pub struct Question<'c> {
    a: &'c Mechanism,
    b: &'c Mechanism,
    catalogue: &'c Catalogue,
}

/// Runs, and of each pair its run and the indices of both rows.
pub type Found = (Vec<Run>, Vec<(usize, usize, usize)>);

impl<'c> Question<'c> {
    /// The question that two operands ask; None: they name runs, or rows more exactly.
    pub fn of(operands: &[String], catalogue: &'c Catalogue) -> Result<Option<Self>, Failure> {
        let [first, second] = operands else { return Ok(None) };
        let one = |text: &str| -> Result<Option<&'c Mechanism>, Failure> {
            let Ok(pattern) = Pattern::parse(text) else { return Ok(None) };
            let glob = text.contains(['*', '?']);
            if glob || !pattern.is_plain() || !is_called(text, catalogue) {
                return Ok(None);
            }
            catalogue.meant(&pattern, Mechanism::switches).map(Some).map_err(Failure::usage)
        };
        // A word beside a mechanism's name, and no run, file or row: a name that nobody has.
        let unknown = |text: &str| {
            let word = text != "latest" && text.chars().all(|c| c.is_alphabetic() || "-_+".contains(c));
            let sentence =
                || format!("`{text}` is neither a run, a file nor a mechanism{}", catalogue.did_you_mean(text));
            if word { Err(Failure::usage(sentence())) } else { Ok(None) }
        };
        let (a, b) = match (one(first)?, one(second)?) {
            (Some(a), Some(b)) => (a, b),
            (Some(_), None) => return unknown(second),
            (None, Some(_)) => return unknown(first),
            (None, None) => return Ok(None),
        };
        if a.id == b.id {
            return Err(Failure::usage(format!("`{first}` and `{second}` both mean {}; name another", a.id)));
        }
        Ok(Some(Self { a, b, catalogue }))
    }

    /// Ids of both.
    pub fn names(&self) -> (String, String) {
        (self.a.id.to_string(), self.b.id.to_string())
    }

    /// Finds or measures the rows.
    pub fn answer(&self, arguments: &Compare, installation: &Installation, store: &Path) -> Result<Found, Failure> {
        let mut runs: Vec<Run> = Vec::new();
        // Of each pair its place in the answer.
        let (mut rows, mut missing) = (Vec::new(), Vec::new());
        let mut stored = Stored::open(store, |_: &_| true)?;
        for (order, pair) in self.pairs().into_iter().enumerate() {
            let places = |run: &Run| Some((self.place(run, &pair.0)?, self.place(run, &pair.1)?));
            match stored.find(Some(AGE), |run| places(run).map(|places| (run.clone(), places)))? {
                Some((run, (a, b))) => {
                    let known = runs.iter().position(|known: &Run| known.id == run.id);
                    let index = known.unwrap_or(runs.len());
                    runs.extend(known.is_none().then_some(run));
                    rows.push((order, (index, a, b)));
                }
                None => missing.push((order, pair)),
            }
        }
        if !missing.is_empty() {
            let wanted: Vec<Wanted> = missing.iter().flat_map(|(_, (a, b))| [a.clone(), b.clone()]).collect();
            let request = request(arguments);
            let prepared = Prepared::new(&wanted, &request, installation, self.catalogue, store)?;
            for (place, row) in wanted.iter().enumerate().filter(|(_, row)| row.experiment == Experiment::usual()) {
                if let Some(reason) = prepared.why_not(place) {
                    return Err(Failure::nothing(format!("{row} cannot be measured here: {reason}")));
                }
            }
            let names: Vec<String> = wanted.iter().map(ToString::to_string).collect();
            output::say(&format!("no run of the last week has both, so they are measured now: {}", names.join(", ")));
            let (run, places) = prepared.measure(&request, self.catalogue)?;
            let pairs = places.chunks_exact(2).filter_map(|pair| pair.first().copied().zip(pair.last().copied()));
            rows.extend(missing.iter().zip(pairs).map(|((order, _), (a, b))| (*order, (runs.len(), a, b))));
            runs.push(run);
        }
        rows.sort_by_key(|(order, _)| *order);
        Ok((runs, rows.into_iter().map(|(_, row)| row).collect()))
    }

    /// The row, if it has starts enough.
    fn place(&self, run: &Run, wanted: &Wanted) -> Option<usize> {
        let index = place(run, wanted, self.catalogue)?;
        let starts = run.invocations.iter().filter(|start| start.variant == index).count();
        (starts >= FEWEST_STARTS).then_some(index)
    }

    /// What both have, or have borrowed: futexes do not make threads, and a thread is as large whatever it waits for.
    fn pairs(&self) -> Vec<(Wanted, Wanted)> {
        let whose = |mechanism: &'c Mechanism, experiment: Experiment| {
            let lender = mechanism.contexts_of.as_ref().filter(|_| experiment.of_contexts);
            let lender = lender.and_then(|id| self.catalogue.find(id));
            [Some(mechanism), lender].into_iter().flatten().find(|of| of.experiments.contains(&experiment))
        };
        let asked = Experiment::all().into_iter().filter(|experiment| experiment.asked);
        let pairs = asked.filter_map(|experiment| {
            let (a, b) = (whose(self.a, experiment)?, whose(self.b, experiment)?);
            let both = a.placements.iter().find(|placement| b.placements.contains(placement));
            let wanted = |of: &Mechanism| {
                let placement = both.or(of.placements.first()).copied()?;
                Some(Wanted { experiment, ..Wanted::plain(of.id.clone(), placement) })
            };
            (a.id != b.id).then_some(wanted(a)?).zip(wanted(b))
        });
        pairs.collect()
    }
}
