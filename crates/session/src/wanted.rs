//! Measuring what an answer needs: rows that data files name, from the store or now.

use crate::arguments::Measuring;
use crate::exit::Failure;
use crate::measure::{CONTINUES, Measured, Session, is_own, open_store, seed};
use crate::paths::Installation;
use crate::stored::{now_unix_ns, say_future};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::time::{Duration, Instant};
use switchcost_catalogue::Catalogue;
use switchcost_model::{EndedBy, Reason, Request, Run, Variant, Wanted};
use switchcost_runner::{METHOD_VERSION, Selection, select_wanted};
use switchcost_store::{RunHeader, Store, StoreError};

/// A request that measures rows of data files within a budget.
pub fn request(budget: Duration, rounds: Option<u64>, how: &Measuring) -> Request {
    Request { budget, rounds, seed: seed(how.seed), ..Request::default() }
}

/// How long measuring takes, about: a start takes as long as that of the stored row of the
/// mechanism which is nearest in the number of contexts, and what more contexts there are is made
/// and goes round in each batch.
pub fn expected(wanted: &[Wanted], rounds: u64, runs: &[Run]) -> Duration {
    /// A start, and ns of a unit, of a mechanism that nothing is known of.
    const UNKNOWN: (Duration, f64) = (Duration::from_millis(100), 1000.0);
    /// Laps of a start whose lap is longer than a batch.
    const LAPS: f64 = 60.0;
    let start = |wanted: &Wanted| {
        let like = |variant: &Variant| variant.mechanism == wanted.mechanism && variant.experiment == wanted.experiment;
        let contexts = wanted.contexts.unwrap_or(2);
        let starts =
            runs.iter().flat_map(|run| run.invocations.iter().map(|start| (&run.variants[start.variant], start)));
        let nearest = starts.filter(|(variant, _)| like(variant)).min_by_key(|(v, _)| v.contexts.abs_diff(contexts));
        let ((start, unit), had) = nearest.map_or((UNKNOWN, 2), |(variant, start)| {
            let unit = switchcost_analysis::series(start).values.first().map_or(0.0, |ns| ns.max(0.0));
            ((Duration::from_nanos(start.wall_ns), unit), variant.contexts)
        });
        let unit = if wanted.experiment.ring { unit } else { 0.0 };
        start + Duration::from_nanos((contexts.saturating_sub(had) as f64 * unit * LAPS) as u64)
    };
    // The controls that bound the rows and the A/A twins come on top.
    wanted.iter().map(start).sum::<Duration>().mul_f64(rounds as f64 * 1.2)
}

/// What is wanted, before it is measured.
pub struct Prepared {
    store: Store,
    session: Session,
    selection: Selection,
    places: Vec<Option<usize>>,
}

impl Prepared {
    /// Asks the probes which of it can run.
    pub fn new(
        wanted: &[Wanted],
        request: &Request,
        installation: &Installation,
        catalogue: &Catalogue,
        store: &Path,
        how: &Measuring,
    ) -> Result<Self, Failure> {
        // Here it is an answer that is lacking, not the use that is wrong.
        if installation.probes(catalogue).is_empty() {
            return Err(Failure::nothing(installation.why_no_probes()));
        }
        let store = open_store(Some(store))?;
        let patterns = wanted.iter().map(|row| row.mechanism.to_string()).collect();
        let session = Session::answering(&Request { patterns, ..request.clone() }, Instant::now(), how)?;
        let (selection, places) = select_wanted(wanted, request, catalogue, &session.probes).map_err(Failure::usage)?;
        Ok(Self { store, session, selection, places })
    }

    /// Why the wanted row of this place cannot run here.
    pub fn why_not(&self, place: usize) -> Option<&Reason> {
        self.selection.not_run.get(self.places.get(place)?.as_ref()?)
    }

    /// Measures it in one interleaved run and stores that. The answer has the place of each among
    /// the run's variants; a row that cannot run has a reason there.
    pub fn measure(self, request: &Request, catalogue: &Catalogue) -> Result<(Run, Vec<Option<usize>>), Failure> {
        let places = self.places.clone();
        let (run, storing) = self.measure_until(request, catalogue)?;
        if run.ended_by == EndedBy::Interrupt {
            return Err(Failure::partial(format!("stopped while it measured; {CONTINUES}")));
        }
        storing.map_err(Failure::usage)?;
        Ok((run, places))
    }

    /// The same, until the user stops it: what is measured by then is the answer.
    pub fn measure_until(mut self, request: &Request, catalogue: &Catalogue) -> Result<Measured, Failure> {
        self.selection.add_twins(catalogue, &self.session.probes);
        self.session.measure(request, self.selection, self.store)
    }
}

/// Runs that were measured here, on this machine in this set-up, newest first, loaded as they are
/// needed, those without a wanted variant without their starts.
pub struct Stored<W> {
    store: Option<Store>,
    headers: Vec<RunHeader>,
    /// By id.
    loaded: HashMap<String, Run>,
    wanted: W,
}

impl<W: Fn(&Variant) -> bool> Stored<W> {
    /// None where there is no store yet. A run of this command that is to be continued answers
    /// nothing yet.
    pub fn open(path: &Path, how: &Measuring, wanted: W) -> Result<Self, Failure> {
        if !path.exists() {
            return Ok(Self { store: None, headers: Vec::new(), loaded: HashMap::new(), wanted });
        }
        let store = Store::open_read_only(path).map_err(Failure::usage)?;
        let here = switchcost_machine::fingerprint().key();
        let mut headers = store.list().map_err(Failure::usage)?;
        headers.retain(|header| {
            let usable = header.method_version == METHOD_VERSION && header.invocations > 0;
            let continued = how.resume && header.ended_by.resumable() && is_own(&header.command);
            usable && !continued && !header.imported && header.machine_key() == here
        });
        say_future(headers.iter().map(|header| (header.id.as_str(), header.started_unix_ns)));
        Ok(Self { store: Some(store), headers, loaded: HashMap::new(), wanted })
    }

    /// What `of` finds in the newest run that has it and is not older than `age`. A run in the
    /// future may be of any age.
    pub fn find<T>(
        &mut self,
        age: Option<Duration>,
        mut of: impl FnMut(&Run) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let now = now_unix_ns();
        let fresh = age.map(|age| now.saturating_sub(age.as_nanos() as i64)..=now);
        for header in &self.headers {
            if fresh.as_ref().is_some_and(|fresh| !fresh.contains(&header.started_unix_ns)) {
                continue;
            }
            let Some(store) = &self.store else { return Ok(None) };
            let run = match self.loaded.entry(header.id.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    match StoreError::unless_later(store.load_if(&header.id, &self.wanted)).map_err(Failure::usage)? {
                        Some(run) => place.insert(run),
                        None => continue,
                    }
                }
            };
            if let Some(found) = of(run) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// Index of the wanted row in a run, if it was measured there.
pub fn place(run: &Run, wanted: &Wanted, catalogue: &Catalogue) -> Option<usize> {
    let mechanism = catalogue.find(&wanted.mechanism)?;
    let fits = |variant: &Variant| wanted.fits(variant, mechanism);
    (0..run.variants.len()).find(|index| fits(&run.variants[*index]) && !run.not_run.contains_key(index))
}
