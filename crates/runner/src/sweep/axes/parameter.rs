//! A parameter of mechanisms.

use super::{Axis, Here};
use crate::sweep::points::{Numbers, numbers, rounded_decimal, rounded_size, words};
use crate::sweep::{Range, SweepError};
use std::borrow::Cow;
use std::collections::BTreeSet;
use switchcost_catalogue::grammar;
use switchcost_model::{Experiment, Mechanism, ParameterKind, Request};

/// Sizes begin at a page: below, nothing is spread over more than a few cache lines.
const FIRST_SIZE: u64 = 4096;

/// Facts of the machine that hold the size of the last-level cache, the first that is known counts.
const LAST_LEVEL_CACHES: [&str; 3] = ["cache.l3", "cache.l2", "cache.l1d"];

/// A parameter.
pub struct Parameter {
    name: Cow<'static, str>,
    parameter: Cow<'static, str>,
    purpose: &'static str,
    /// End of the default range, where that is not the parameter's own highest value.
    end: Option<End>,
    series: &'static Series,
}

/// The default spacing of numeric points.
struct Series {
    /// The first behind 0.
    first: u64,
    /// Each is so many times the one before.
    factor: f64,
    read: fn(&str) -> Option<u64>,
    round: fn(f64) -> u64,
}

const SIZES: Series = Series { first: FIRST_SIZE, factor: 4.0, read: grammar::size, round: rounded_size };
const COUNTS: Series = Series { first: 1, factor: 10.0, read: grammar::count, round: rounded_decimal };

/// The end of a range, or why it is not known here.
type End = fn(&Here<'_>) -> Result<u64, String>;

impl Parameter {
    /// A size that mechanisms have as a parameter, or words, by its word on the command line.
    pub const fn new(name: &'static str, parameter: &'static str, purpose: &'static str) -> Self {
        let (name, parameter) = (Cow::Borrowed(name), Cow::Borrowed(parameter));
        Self { name, parameter, purpose, end: None, series: &SIZES }
    }

    /// The same with another end of the default range.
    pub const fn up_to(mut self, end: End) -> Self {
        self.end = Some(end);
        self
    }

    /// Any parameter, by its own name.
    pub(super) fn named(name: &str) -> Self {
        let (name, parameter) = (Cow::Owned(name.to_owned()), Cow::Owned(name.to_owned()));
        Self { name, parameter, purpose: "A parameter of a mechanism", end: None, series: &COUNTS }
    }
}

/// A working set of this size is in memory and in no cache.
pub fn four_times_the_cache(here: &Here<'_>) -> Result<u64, String> {
    // A fact such as `266240K, 2 CPUs`.
    let size = |fact: &str| grammar::size(here.facts.get(fact)?.split(',').next()?);
    let cache = LAST_LEVEL_CACHES.into_iter().find_map(size);
    cache.map(|size| size * 4).ok_or_else(|| "this machine does not tell the size of its caches".into())
}

impl Axis for Parameter {
    fn name(&self) -> &str {
        &self.name
    }

    fn purpose(&self) -> &str {
        self.purpose
    }

    /// The first that it changes, where it changes nothing of what is usual.
    fn usual_experiment(&self, mechanisms: &[Mechanism]) -> Option<Experiment> {
        let having = mechanisms.iter().filter_map(|mechanism| mechanism.parameters.get(&*self.parameter));
        let changed: BTreeSet<Experiment> = having.flat_map(|parameter| &parameter.experiments).copied().collect();
        changed.first().copied().filter(|first| *first != Experiment::usual())
    }

    fn fits(&self, mechanism: &Mechanism, experiment: Option<Experiment>) -> bool {
        let chosen = experiment.unwrap_or(mechanism.experiments[0]);
        mechanism.experiments.contains(&chosen) && mechanism.takes(&self.parameter, chosen).is_some()
    }

    fn what(&self) -> String {
        format!("parameter `{}`", self.parameter)
    }

    fn fixed_by(&self, request: &Request) -> Option<String> {
        request.parameters.contains_key(&*self.parameter).then(|| format!("--param {}", self.parameter))
    }

    fn vary(
        &self,
        request: &mut Request,
        range: &Range,
        here: &Here<'_>,
        mechanisms: &[&Mechanism],
    ) -> Result<(), SweepError> {
        let end = self.end.map(|end| end(here));
        let values = values(&self.parameter, self.series, end, range, mechanisms)?;
        request.parameters.insert(self.parameter.clone().into_owned(), values);
        Ok(())
    }

    fn parameter(&self) -> Option<&str> {
        Some(&self.parameter)
    }
}

/// Numbers of a parameter, or its words.
fn values(
    name: &str,
    series: &Series,
    end: Option<Result<u64, String>>,
    range: &Range,
    fitting: &[&Mechanism],
) -> Result<Vec<String>, SweepError> {
    let kinds = || fitting.iter().filter_map(|mechanism| Some(&mechanism.parameters.get(name)?.kind));
    let bounds = kinds().filter_map(|kind| match kind {
        ParameterKind::Integer { min, max } => Some((*min, *max)),
        ParameterKind::Words(_) => None,
    });
    let Some((lowest, highest)) = bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else {
        let known = kinds().filter_map(|kind| if let ParameterKind::Words(words) = kind { Some(words) } else { None });
        let mut every: Vec<String> = Vec::new();
        known.flatten().for_each(|word| {
            if !every.contains(word) {
                every.push(word.clone())
            }
        });
        return words(range, every);
    };
    let end = match (end, range.to.is_some() || !range.values.is_empty()) {
        (_, true) | (None, _) => highest,
        (Some(Ok(to)), false) => highest.min(to),
        (Some(Err(reason)), false) => return Err(SweepError::NoEnd { reason }),
    };
    let steps = |from: u64, to: u64| (to as f64 / from as f64).log(series.factor).round() as u64 + 1;
    let first = if lowest == 0 { series.first.min(end.max(1)) } else { lowest };
    let of = Numbers { read: series.read, lowest, highest, what: name, round: series.round };
    let mut points = numbers(range, &of, (first, end), steps)?;
    // What the parameter itself costs is known only if the mechanism is also measured without it.
    let split = fitting.iter().any(|mechanism| mechanism.parameters.get(name).is_some_and(|p| p.control.is_some()));
    if lowest == 0 && (split || (range.from.is_none() && range.values.is_empty())) && !points.contains(&0) {
        points.insert(0, 0);
    }
    Ok(points.iter().map(ToString::to_string).collect())
}
