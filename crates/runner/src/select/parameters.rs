//! The parameters of rows: what was asked, what is usual, and what a probe is told.

use crate::RequestError;
use std::collections::BTreeSet;
use switchcost_catalogue::grammar;
use switchcost_model::{Experiment, Mechanism, Parameters, Placement, Request};

/// The same with sizes such as 64K of parameters that are numbers written out.
pub(super) fn sized(request: &Request, mechanisms: &[&Mechanism]) -> Request {
    let mut request = request.clone();
    for (name, values) in &mut request.parameters {
        let known = mechanisms.iter().find_map(|mechanism| mechanism.parameters.get(name));
        values.iter_mut().for_each(|value| *value = grammar::value(value, known));
    }
    request
}

/// With the values that an experiment is usually measured with, where nobody says more than its
/// name.
pub(super) fn usual(mut request: Request) -> Request {
    let page = request.experiment.filter(|_| request.patterns.is_empty() && request.axis.is_none());
    for (name, values) in page.iter().flat_map(|experiment| &experiment.page().usual) {
        request.parameters.entry(name.clone()).or_insert_with(|| values.clone());
    }
    request
}

/// Every combination of the asked values of those parameters that the mechanism takes in this
/// experiment.
fn combinations(request: &Request, mechanism: &Mechanism) -> Vec<Parameters> {
    let mut all = vec![Parameters::new()];
    for (name, values) in &request.parameters {
        let Some(parameter) = mechanism.takes(name, chosen_experiment(request, mechanism)) else { continue };
        let fitting: Vec<&String> = values.iter().filter(|value| parameter.accepts(value).is_ok()).collect();
        all = all
            .into_iter()
            .flat_map(|so_far| {
                fitting.iter().map(move |value| {
                    let mut next = so_far.clone();
                    next.insert(name.clone(), (*value).clone());
                    next
                })
            })
            .collect();
    }
    all
}

/// With every parameter that a probe is told, and those of the host's own that this experiment has.
pub(crate) fn filled(mechanism: &Mechanism, given: &Parameters, experiment: Experiment) -> Parameters {
    mechanism
        .parameters
        .iter()
        .filter(|(_, parameter)| !parameter.by_host || parameter.experiments.contains(&experiment))
        .map(|(name, parameter)| (name.clone(), given.get(name).unwrap_or(&parameter.default).clone()))
        .collect()
}

/// What is done unless another experiment is asked for.
pub(crate) fn chosen_experiment(request: &Request, mechanism: &Mechanism) -> Experiment {
    request.experiment.unwrap_or(mechanism.experiments[0])
}

pub(super) fn check_parameters(request: &Request, mechanisms: &[&Mechanism]) -> Result<(), RequestError> {
    for (name, values) in &request.parameters {
        let having: Vec<_> = mechanisms.iter().filter_map(|mechanism| mechanism.parameters.get(name)).collect();
        if having.is_empty() {
            let known: BTreeSet<&str> =
                mechanisms.iter().flat_map(|mechanism| mechanism.parameters.keys().map(String::as_str)).collect();
            let known = (!known.is_empty()).then(|| known.into_iter().collect::<Vec<_>>().join(", "));
            return Err(RequestError::UnknownParameter { name: name.clone(), known });
        }
        for value in values {
            if let Some(reason) = having.iter().map(|p| p.accepts(value)).reduce(Result::or).and_then(Result::err) {
                return Err(RequestError::BadParameter { name: name.clone(), reason: reason.to_string() });
            }
        }
        check_experiment(name, request, mechanisms)?;
    }
    Ok(())
}

/// A parameter that no chosen mechanism takes in its experiment would label a row with what was not
/// done.
pub(crate) fn check_experiment(name: &str, request: &Request, mechanisms: &[&Mechanism]) -> Result<(), RequestError> {
    let having = || mechanisms.iter().filter_map(|mechanism| Some((*mechanism, mechanism.parameters.get(name)?)));
    if having().next().is_none() || having().any(|(c, _)| c.takes(name, chosen_experiment(request, c)).is_some()) {
        return Ok(());
    }
    let asked: BTreeSet<Experiment> = having().map(|(mechanism, _)| chosen_experiment(request, mechanism)).collect();
    let changed: BTreeSet<Experiment> = having()
        .flat_map(|(mechanism, parameter)| parameter.experiments.iter().filter(|e| mechanism.experiments.contains(e)))
        .copied()
        .collect();
    let list = |all: &BTreeSet<Experiment>, word: &str| {
        all.iter().map(|experiment| format!("{word}{experiment}")).collect::<Vec<_>>().join(" or ")
    };
    let cure = match list(&changed, "--experiment ") {
        flags if flags.is_empty() => "leave it out".to_owned(),
        flags => format!("say {flags} (in compare: {}), or leave it out", list(&changed, "")),
    };
    Err(RequestError::IgnoredParameter {
        name: name.to_owned(),
        asked: list(&asked, ""),
        changed: list(&changed, ""),
        cure,
    })
}

/// Experiment, placement and parameters of a row.
type Shape = (Experiment, Placement, Parameters);

/// Experiment, placement and parameters of the rows of one mechanism.
pub(super) fn shapes(request: &Request, mechanism: &Mechanism) -> Result<Vec<Shape>, RequestError> {
    let experiment = chosen_experiment(request, mechanism);
    let mut shapes = Vec::new();
    for given in combinations(request, mechanism) {
        if request.patterns.is_empty() && experiment.page().usual.is_empty() {
            for headline in &mechanism.headline {
                let mut parameters = headline.parameters.clone();
                parameters.extend(given.clone());
                let placements =
                    if request.placements.is_empty() { vec![headline.placement] } else { request.placements.clone() };
                shapes.extend(
                    placements.into_iter().map(|p| (experiment, p, filled(mechanism, &parameters, experiment))),
                );
            }
        } else {
            let placements = if request.placements.is_empty() {
                vec![mechanism.usual_placement(experiment)]
            } else {
                request.placements.clone()
            };
            shapes.extend(placements.into_iter().map(|p| (experiment, p, filled(mechanism, &given, experiment))));
        }
    }
    Ok(shapes)
}
