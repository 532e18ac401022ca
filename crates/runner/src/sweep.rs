//! A sweep: the rows of a run along one axis. What comes of it is a selection like any other.

mod axes;
mod points;

pub use axes::{AXES, AnyAxis, Axis, Here, axis_of, listed_axis};
pub use points::{Range, SweepError};

use crate::select::{check_experiment, chosen_experiment, filled, matching};
use crate::{KnownProbe, RequestError, Selection, select};
use std::collections::BTreeSet;
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::Pattern;
use switchcost_model::{Experiment, Mechanism, MechanismId, Reason, Request, Variant};

/// Resolves a request along an axis. Without patterns: those mechanisms of the headline ladder that
/// have the axis.
///
/// # Errors
/// A range or pattern that means nothing here, as one sentence.
pub fn select_sweep(
    request: &Request,
    axis: &dyn Axis,
    range: &Range,
    here: &Here<'_>,
    catalogue: &Catalogue,
    probes: &[KnownProbe],
) -> Result<Selection, SweepError> {
    if let Some(given) = axis.fixed_by(request) {
        return Err(SweepError::Twice { given });
    }
    let plain = |text: &String| Pattern::parse(text).is_ok_and(|pattern| pattern.is_plain());
    if let Some(text) = request.patterns.iter().find(|text| !plain(text)) {
        let reason = format!("`{text}` says more than which mechanisms; say the rest by options such as --placement");
        return Err(RequestError::BadPattern(reason).into());
    }
    let mechanisms = matching(request, catalogue)?;
    let (fitting, lacking): (Vec<&Mechanism>, Vec<&Mechanism>) =
        mechanisms.iter().copied().partition(|mechanism| axis.fits(mechanism, request.experiment));
    if fitting.is_empty() {
        if let Some(name) = axis.parameter() {
            check_experiment(name, request, &mechanisms)?;
        }
        let headline = "that `run` measures by default".to_owned();
        let chosen = if request.patterns.is_empty() { headline } else { request.patterns.join(" ") };
        return Err(SweepError::NoAxis { what: axis.what(), chosen });
    }
    let mut along =
        Request { patterns: fitting.iter().map(|mechanism| mechanism.id.to_string()).collect(), ..request.clone() };
    axis.vary(&mut along, range, here, &fitting)?;
    let mut selection = select(&along, catalogue, probes)?;
    if let Some(name) = axis.parameter() {
        for (mechanism, value, reason) in refusals(name, &along.parameters[name], &fitting) {
            let mut variant = unmeasured(request, mechanism);
            variant.parameters.insert(name.to_owned(), value);
            selection.push(variant, Some(reason));
        }
    }
    if !request.patterns.is_empty() {
        for mechanism in lacking {
            selection.push(unmeasured(request, mechanism), Some(lacked(axis, request, mechanism)));
        }
    }
    if let Some(name) = axis.parameter() {
        add_controls(&mut selection, &along, name, &fitting, catalogue, probes)?;
    }
    Ok(selection)
}

/// Why a mechanism cannot be varied along it.
fn lacked(axis: &dyn Axis, request: &Request, mechanism: &Mechanism) -> Reason {
    let (what, id) = (axis.what().to_string(), mechanism.id.to_string());
    if axis.parameter().is_some_and(|name| mechanism.parameters.contains_key(name)) {
        let experiment = chosen_experiment(request, mechanism).to_string();
        return Reason::AxisWithoutEffect { mechanism: id, what, experiment };
    }
    Reason::NoAxis { mechanism: id, what }
}

/// Points that other mechanisms have and these do not.
fn refusals<'a>(name: &str, values: &[String], fitting: &[&'a Mechanism]) -> Vec<(&'a Mechanism, String, Reason)> {
    let mut refused = Vec::new();
    for mechanism in fitting {
        let Some(parameter) = mechanism.parameters.get(name) else { continue };
        for value in values {
            if let Err(why) = parameter.accepts(value) {
                let reason = Reason::ValueRefused { name: name.to_owned(), why };
                refused.push((*mechanism, value.clone(), reason));
            }
        }
    }
    refused
}

/// A row that only says why there is none.
fn unmeasured(request: &Request, mechanism: &Mechanism) -> Variant {
    let experiment = request.experiment.unwrap_or(mechanism.experiments[0]);
    Variant {
        mechanism: mechanism.id.clone(),
        probe: "-".to_owned(),
        experiment,
        contexts: mechanism.usual_contexts(experiment),
        placement: mechanism.usual_placement(experiment),
        timing: request.timing,
        parameters: filled(mechanism, &Default::default(), experiment),
        label: String::new(),
    }
}

/// Each control that does what the parameter costs, at each point but 0, in the same run.
fn add_controls(
    selection: &mut Selection,
    along: &Request,
    name: &str,
    fitting: &[&Mechanism],
    catalogue: &Catalogue,
    probes: &[KnownProbe],
) -> Result<(), SweepError> {
    let named = |mechanism: &&Mechanism| mechanism.parameters.get(name).and_then(|parameter| parameter.control.clone());
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

/// The patterns of a sweep without patterns: the mechanisms of the headline ladder that have the
/// axis.
#[must_use]
pub fn headline_with(axis: &dyn Axis, experiment: Option<Experiment>, catalogue: &Catalogue) -> Vec<String> {
    let fitting = catalogue.mechanisms.iter().filter(|c| !c.headline.is_empty() && axis.fits(c, experiment));
    fitting.filter(|mechanism| !mechanism.control).map(|mechanism| mechanism.id.to_string()).collect()
}
