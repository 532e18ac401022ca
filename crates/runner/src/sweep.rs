//! A sweep: the rows of a run along one axis. What comes of it is a selection like any other.

mod points;

pub use points::{Range, SweepError};

use crate::select::{check_experiment, chosen_experiment, filled, matching};
use crate::{KnownProbe, Request, Selection, select};
use points::{MOST_POINTS, numbers, rounded_decimal, rounded_size, words};
use std::collections::BTreeSet;
use switchcost_catalogue::Catalogue;
use switchcost_model::{Concept, Experiment, MechanismId, ParameterKind, Placement, Variant};

/// Rings of a sweep over contexts, unless something else is said.
const CONTEXTS: (u64, u64) = (2, 1_000_000);

/// Their number: about one a factor of nine.
const CONTEXTS_STEPS: u64 = 7;

/// Sizes begin at a page: below, nothing is spread over more than a few cache lines.
const FIRST_SIZE: u64 = 4096;

/// What is varied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Axis {
    /// Size of the ring.
    Contexts,
    /// Every pair of CPUs, each with itself, too.
    Cpus,
    /// A parameter of mechanisms.
    Parameter {
        /// Its name.
        name: String,
        /// End of the default range, where that is not the parameter's own highest value; or why it is not known.
        to: Option<Result<u64, String>>,
    },
}

impl Axis {
    fn what(&self) -> String {
        match self {
            Self::Contexts => "ring whose size could be varied".to_owned(),
            Self::Cpus => "placement two_cpus".to_owned(),
            Self::Parameter { name, .. } => format!("parameter `{name}`"),
        }
    }

    /// Why a mechanism cannot be varied along it.
    fn lacked_by(&self, request: &Request, concept: &Concept) -> String {
        let experiment = chosen_experiment(request, concept);
        match self {
            Self::Parameter { name, .. } if concept.parameters.contains_key(name) => {
                format!("{} of {} changes nothing in experiment {experiment}", self.what(), concept.id)
            }
            _ => format!("{} has no {}", concept.id, self.what()),
        }
    }

    /// Whether a mechanism can be varied along it.
    fn fits(&self, concept: &Concept, experiment: Option<Experiment>) -> bool {
        let chosen = experiment.unwrap_or(concept.experiments[0]);
        concept.experiments.contains(&chosen)
            && match self {
                Self::Contexts => !concept.control && matches!(chosen, Experiment::Switch | Experiment::Footprint),
                Self::Cpus => concept.placements.contains(&Placement::TwoCpus),
                Self::Parameter { name, .. } => concept.takes(name, chosen).is_some(),
            }
    }
}

/// Resolves a request along an axis; `cpus` may be used. Without patterns: those mechanisms of the headline ladder that have the axis.
///
/// # Errors
/// A range or pattern that means nothing here, as one sentence.
pub fn select_sweep(
    request: &Request,
    axis: &Axis,
    range: &Range,
    cpus: &[u32],
    catalogue: &Catalogue,
    probes: &[KnownProbe],
) -> Result<Selection, SweepError> {
    check_given(request, axis)?;
    let concepts = matching(request, catalogue)?;
    let (fitting, lacking): (Vec<&Concept>, Vec<&Concept>) =
        concepts.iter().copied().partition(|concept| axis.fits(concept, request.experiment));
    if fitting.is_empty() {
        if let Axis::Parameter { name, .. } = axis {
            check_experiment(name, request, &concepts)?;
        }
        let headline = "of the headline ladder".to_owned();
        let chosen = if request.patterns.is_empty() { headline } else { request.patterns.join(" ") };
        return Err(SweepError::NoAxis { what: axis.what(), chosen });
    }
    let mut along =
        Request { patterns: fitting.iter().map(|concept| concept.id.to_string()).collect(), ..request.clone() };
    let mut refused = Vec::new();
    match axis {
        Axis::Contexts => {
            let (from, to) = CONTEXTS;
            along.contexts = numbers(range, (from, to), |_, _| CONTEXTS_STEPS, rounded_decimal)?;
            if let Some(wrong) = along.contexts.iter().find(|&&n| n == 0 || n > 10_000_000) {
                return Err(SweepError::OutOfRange {
                    value: wrong.to_string(),
                    reason: "a ring has 1 to 10000000".into(),
                });
            }
        }
        Axis::Cpus => along.placements = pairs(range, cpus)?,
        Axis::Parameter { name, to } => {
            let values = values(name, to.as_ref(), range, &fitting)?;
            refused = refusals(name, &values, &fitting);
            along.parameters.insert(name.clone(), values);
        }
    }
    let mut selection = select(&along, catalogue, probes)?;
    for (concept, value, reason) in refused {
        let mut variant = unmeasured(request, concept);
        if let Axis::Parameter { name, .. } = axis {
            variant.parameters.insert(name.clone(), value);
        }
        selection.push(variant, Some(reason));
    }
    if !request.patterns.is_empty() {
        for concept in lacking {
            selection.push(unmeasured(request, concept), Some(axis.lacked_by(request, concept)));
        }
    }
    if let Axis::Parameter { name, .. } = axis {
        add_controls(&mut selection, &along, name, &fitting, catalogue, probes)?;
    }
    Ok(selection)
}

/// What is varied cannot be fixed as well.
fn check_given(request: &Request, axis: &Axis) -> Result<(), SweepError> {
    match axis {
        Axis::Cpus if !request.placements.is_empty() => Err(SweepError::Twice { given: "--placement".into() }),
        Axis::Parameter { name, .. } if request.parameters.contains_key(name) => {
            Err(SweepError::Twice { given: format!("--param {name}") })
        }
        _ => Ok(()),
    }
}

/// Numbers of a parameter, or its words.
fn values(
    name: &str,
    to: Option<&Result<u64, String>>,
    range: &Range,
    fitting: &[&Concept],
) -> Result<Vec<String>, SweepError> {
    let kinds = || fitting.iter().filter_map(|concept| Some(&concept.parameters.get(name)?.kind));
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
    let end = match (to, range.to.is_some() || !range.values.is_empty()) {
        (_, true) | (None, _) => highest,
        (Some(Ok(to)), false) => highest.min(*to),
        (Some(Err(reason)), false) => return Err(SweepError::NoEnd { reason: reason.clone() }),
    };
    let factor_four = |from: u64, to: u64| ((to as f64 / from as f64).log2() / 2.0).round() as u64 + 1;
    let first = if lowest == 0 { FIRST_SIZE.min(end.max(1)) } else { lowest };
    let mut points = numbers(range, (first, end), factor_four, rounded_size)?;
    // What the parameter itself costs is told apart only if the mechanism is measured without it, too.
    let split = fitting.iter().any(|concept| concept.parameters.get(name).is_some_and(|p| p.control.is_some()));
    if lowest == 0 && (split || (range.from.is_none() && range.values.is_empty())) && !points.contains(&0) {
        points.insert(0, 0);
    }
    if let Some(wrong) = points.iter().find(|point| !(lowest..=highest).contains(*point)) {
        let reason = format!("{name} is a whole number from {lowest} to {highest}");
        return Err(SweepError::OutOfRange { value: wrong.to_string(), reason });
    }
    Ok(points.iter().map(ToString::to_string).collect())
}

/// Points that other mechanisms have and these do not.
fn refusals<'a>(name: &str, values: &[String], fitting: &[&'a Concept]) -> Vec<(&'a Concept, String, String)> {
    let mut refused = Vec::new();
    for concept in fitting {
        let Some(parameter) = concept.parameters.get(name) else { continue };
        for value in values {
            if let Err(reason) = parameter.accepts(value) {
                refused.push((*concept, value.clone(), format!("{name}: {reason}")));
            }
        }
    }
    refused
}

/// A row that only says why there is none.
fn unmeasured(request: &Request, concept: &Concept) -> Variant {
    let experiment = request.experiment.unwrap_or(concept.experiments[0]);
    Variant {
        mechanism: concept.id.clone(),
        probe: "-".to_owned(),
        experiment,
        contexts: concept.usual_contexts(experiment),
        placement: concept.placements[0],
        timing: request.timing,
        parameters: filled(concept, &Default::default()),
        label: String::new(),
    }
}

/// Each control that does what the parameter costs, at each point but 0, in the same run.
fn add_controls(
    selection: &mut Selection,
    along: &Request,
    name: &str,
    fitting: &[&Concept],
    catalogue: &Catalogue,
    probes: &[KnownProbe],
) -> Result<(), SweepError> {
    let named = |concept: &&Concept| concept.parameters.get(name).and_then(|parameter| parameter.control.clone());
    let controls: BTreeSet<MechanismId> = fitting.iter().filter_map(named).collect();
    for control in controls {
        let mut parameters = along.parameters.clone();
        let known = |parameter: &String| catalogue.find(&control).is_some_and(|c| c.parameters.contains_key(parameter));
        parameters.retain(|parameter, _| known(parameter));
        parameters.entry(name.to_owned()).or_default().retain(|value| value != "0");
        let request = Request {
            patterns: vec![control.to_string()],
            experiment: None,
            contexts: Vec::new(),
            placements: Vec::new(),
            parameters,
            ..along.clone()
        };
        let found = select(&request, catalogue, probes)?;
        for (index, variant) in found.variants.into_iter().enumerate() {
            selection.push(variant, found.not_run.get(&index).cloned());
        }
    }
    Ok(())
}

/// Each CPU with itself and with each later one: who begins makes no difference to a ring.
fn pairs(range: &Range, cpus: &[u32]) -> Result<Vec<Placement>, SweepError> {
    let every = cpus.iter().map(ToString::to_string).collect();
    let mut chosen = Vec::new();
    for word in words(range, every)? {
        chosen.push(word.parse::<u32>().map_err(|_| SweepError::NotNumeric { value: word.clone() })?);
    }
    chosen.sort_unstable();
    chosen.dedup();
    let count = chosen.len() * (chosen.len() + 1) / 2;
    if count > MOST_POINTS {
        return Err(SweepError::TooManyPairs { cpus: chosen.len(), pairs: count });
    }
    Ok(chosen.iter().enumerate().flat_map(|(i, a)| chosen[i..].iter().map(|b| Placement::Pair(*a, *b))).collect())
}

/// The patterns of a sweep without patterns: the mechanisms of the headline ladder that have the axis.
#[must_use]
pub fn headline_with(axis: &Axis, experiment: Option<Experiment>, catalogue: &Catalogue) -> Vec<String> {
    let fitting = catalogue.concepts.iter().filter(|c| !c.headline.is_empty() && axis.fits(c, experiment));
    fitting.filter(|concept| !concept.control).map(|concept| concept.id.to_string()).collect()
}
