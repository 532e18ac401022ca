//! Request × catalogue × probes → variants.

mod carried_out;
mod companions;
mod named;
mod parameters;

use self::carried_out::carried_out;
pub use self::carried_out::{choices, not_installed};
use self::named::one_by_one;
pub(crate) use self::parameters::{check_experiment, chosen_experiment, filled};
use self::parameters::{check_parameters, shapes, sized, usual};
use crate::{KnownProbe, RequestError};
use std::collections::{BTreeMap, BTreeSet};
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::{Pattern, did_you_mean};
use switchcost_model::{Experiment, Mechanism, MechanismId, Parameters, Placement, Reason, Request, Variant, Wanted};

/// What is to be run, and what cannot be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Every row, in the order of the ladder.
    pub variants: Vec<Variant>,
    /// Index → why it will not be run.
    pub not_run: BTreeMap<usize, Reason>,
    /// Index → size of its invocations, where it is not the request's.
    pub sizes: BTreeMap<usize, Sizes>,
    /// How many mechanisms a pattern took in that have no such experiment as was asked, so that
    /// they have no row.
    pub left_out: usize,
}

/// How much an invocation does, fixed instead of calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Units in a batch.
    pub batch_units: u64,
    /// Measured batches.
    pub batches: u64,
}

impl Selection {
    /// Takes over the rows of another selection; says where each of them now is.
    pub fn merge(&mut self, other: Self) -> Vec<usize> {
        let Self { variants, mut not_run, sizes, left_out } = other;
        self.left_out += left_out;
        let mut places = Vec::new();
        for (index, variant) in variants.into_iter().enumerate() {
            let known = self.variants.iter().position(|own| *own == variant);
            let place = known.unwrap_or(self.variants.len());
            if known.is_none() {
                self.push(variant, not_run.remove(&index));
                self.sizes.extend(sizes.get(&index).map(|&sizes| (place, sizes)));
            }
            places.push(place);
        }
        places
    }

    /// The same under `label`, each row of these sizes.
    pub fn merge_as(&mut self, mut other: Self, label: &str, sizes: Sizes) -> Vec<usize> {
        for variant in &mut other.variants {
            label.clone_into(&mut variant.label);
        }
        other.sizes = (0..other.variants.len()).map(|index| (index, sizes)).collect();
        self.merge(other)
    }

    pub(crate) fn push(&mut self, variant: Variant, reason: Option<Reason>) {
        if self.variants.contains(&variant) {
            return;
        }
        if let Some(reason) = reason {
            self.not_run.insert(self.variants.len(), reason);
        }
        self.variants.push(variant);
    }
}

/// Resolves a request.
///
/// # Errors
/// A pattern, probe or parameter that means nothing here.
pub fn select(request: &Request, catalogue: &Catalogue, probes: &[KnownProbe]) -> Result<Selection, RequestError> {
    if let Some(rows) = one_by_one(request, catalogue, probes)? {
        let mut selection = Selection::default();
        for row in rows {
            selection.merge(select(&row, catalogue, probes)?);
        }
        return Ok(selection);
    }
    RequestError::of_length(request).and_then(|()| check_probes(request, probes))?;
    let mechanisms = matching(request, catalogue)?;
    let request = &usual(sized(request, &mechanisms));
    check_parameters(request, &mechanisms)?;
    let mut selection = Selection::default();
    let able = |mechanism: &Mechanism| request.experiment.is_none_or(|asked| mechanism.experiments.contains(&asked));
    let any = mechanisms.iter().any(|mechanism| able(mechanism));
    for mechanism in mechanisms {
        // Whoever names a mechanism, or gets nothing else, is told why it has no figure.
        if any && !able(mechanism) && !request.patterns.iter().any(|pattern| mechanism.id.as_str() == pattern) {
            selection.left_out += 1;
            continue;
        }
        for (experiment, placement, parameters) in shapes(request, mechanism)? {
            let many = experiment.many;
            // Controls that a pattern takes in beside rings stay what they are.
            let named = !mechanism.control || request.patterns.iter().any(|pattern| mechanism.id.as_str() == pattern);
            let contexts = match request.contexts.is_empty() {
                false if many && named => request.contexts.clone(),
                _ => vec![mechanism.usual_contexts(experiment)],
            };
            for contexts in contexts {
                let shape = Variant {
                    mechanism: mechanism.id.clone(),
                    probe: String::new(),
                    experiment,
                    contexts,
                    placement,
                    timing: request.timing,
                    parameters: parameters.clone(),
                    label: String::new(),
                };
                for (row, reason) in carried_out(&shape, request, mechanism, catalogue, probes) {
                    selection.push(row, reason);
                }
            }
        }
    }
    add_broken(&mut selection, request, catalogue);
    Ok(selection)
}

/// Resolves what data files want, each by the best probe that has it; `request` says how it is
/// measured. The answer has the variant of each of `wanted`, in their order, beside the selection.
///
/// # Errors
/// As [`select`].
pub fn select_wanted(
    wanted: &[Wanted],
    request: &Request,
    catalogue: &Catalogue,
    probes: &[KnownProbe],
) -> Result<(Selection, Vec<Option<usize>>), RequestError> {
    let mut selection = Selection::default();
    let mut places = Vec::new();
    for one in wanted {
        let request = Request {
            patterns: vec![one.mechanism.to_string()],
            experiment: Some(one.experiment),
            contexts: one.contexts.into_iter().collect(),
            placements: vec![one.placement],
            timing: one.timing,
            parameters: one.parameters.iter().map(|(name, value)| (name.clone(), vec![value.clone()])).collect(),
            ..request.clone()
        };
        let found = select(&request, catalogue, probes)?;
        // One place for each that is wanted, also for one that selects nothing: places are found by
        // position.
        places.push(selection.merge(found).first().copied());
    }
    Ok((selection, places))
}

/// Rows of the pages that are asked for and cannot be used.
fn add_broken(selection: &mut Selection, request: &Request, catalogue: &Catalogue) {
    for (id, reason) in broken_pages(&request.patterns, catalogue) {
        let variant = Variant {
            mechanism: id.clone(),
            probe: "-".to_owned(),
            experiment: request.experiment.unwrap_or_else(Experiment::usual),
            contexts: 2,
            placement: request.placements.first().copied().unwrap_or_else(Placement::usual),
            timing: request.timing,
            parameters: Parameters::new(),
            label: String::new(),
        };
        selection.push(variant, Some(Reason::PageBroken { fault: reason.to_owned() }));
    }
}

fn broken_pages<'a>(patterns: &[String], catalogue: &'a Catalogue) -> Vec<(&'a MechanismId, &'a str)> {
    let patterns: Vec<Pattern<'_>> = patterns.iter().filter_map(|text| Pattern::parse(text).ok()).collect();
    let asked = |id: &MechanismId| patterns.iter().any(|pattern| pattern.names_mechanism(id));
    let pages = catalogue.broken.iter().filter_map(|page| Some((page.mechanism.as_ref()?, page.reason.as_str())));
    // Beside a page that is used, one of the same name is only a remark of `list`.
    pages.filter(|(id, _)| asked(id) && catalogue.find(id).is_none()).collect()
}

fn check_probes(request: &Request, probes: &[KnownProbe]) -> Result<(), RequestError> {
    for name in &request.probes {
        if !probes.iter().any(|probe| probe.info.id == *name || probe.info.source == *name) {
            let known = probes.iter().flat_map(|probe| [probe.info.id.as_str(), probe.info.source.as_str()]);
            return Err(RequestError::UnknownProbe { name: name.clone(), hint: did_you_mean(name, known) });
        }
    }
    Ok(())
}

pub(crate) fn matching<'a>(request: &Request, catalogue: &'a Catalogue) -> Result<Vec<&'a Mechanism>, RequestError> {
    if request.patterns.is_empty() {
        // An experiment with cells of its own takes all that have it, whether or not the ladder
        // does.
        let cells = request.experiment.filter(|experiment| !experiment.page().usual.is_empty());
        let taken = |mechanism: &&Mechanism| match cells {
            Some(experiment) => mechanism.experiments.contains(&experiment),
            None => !mechanism.headline.is_empty(),
        };
        return Ok(catalogue.mechanisms.iter().filter(taken).collect());
    }
    let mut chosen = BTreeSet::new();
    for text in &request.patterns {
        let pattern = catalogue.pattern(text).map_err(RequestError::BadPattern)?;
        let fits = |&i: &usize| pattern.names_mechanism(&catalogue.mechanisms[i].id);
        let hits: Vec<usize> = (0..catalogue.mechanisms.len()).filter(fits).collect();
        if hits.is_empty() && broken_pages(std::slice::from_ref(text), catalogue).is_empty() {
            let hint = catalogue.did_you_mean(pattern.name());
            return Err(RequestError::UnknownMechanism { pattern: text.clone(), hint });
        }
        chosen.extend(hits);
    }
    Ok(chosen.into_iter().map(|i| &catalogue.mechanisms[i]).collect())
}

#[cfg(test)]
mod tests;
