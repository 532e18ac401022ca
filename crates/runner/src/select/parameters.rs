//! The parameters of rows: what was asked, what is usual, and what a probe is told.

use switchcost_catalogue::grammar;
use switchcost_model::{Described, Experiment, Mechanism, Parameters, Request, Variant};

/// The same with sizes such as 64K of parameters that are numbers written out.
pub(super) fn sized(request: &Request, mechanisms: &[&Mechanism]) -> Request {
    let mut request = request.clone();
    for (name, values) in &mut request.parameters {
        let known = mechanisms.iter().find_map(|mechanism| mechanism.parameters.get(name));
        values.iter_mut().for_each(|value| *value = grammar::value(value, known));
    }
    request
}

/// With the values that an experiment is usually measured with, where nobody says more than its name.
pub(super) fn usual(mut request: Request) -> Request {
    let page = request.experiment.filter(|_| request.patterns.is_empty() && request.axis.is_none());
    for (name, values) in page.iter().flat_map(|experiment| &experiment.page().usual) {
        request.parameters.entry(name.clone()).or_insert_with(|| values.clone());
    }
    request
}

/// Every combination of the asked values of those parameters that the mechanism takes in this experiment.
pub(super) fn combinations(request: &Request, mechanism: &Mechanism) -> Vec<Parameters> {
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

/// Every parameter is sent, with its default where nothing was asked; but what a probe does not describe it would refuse.
pub(super) fn known_parameters(mechanism: &Mechanism, described: &Described, shape: &Variant) -> Variant {
    let mut shape = shape.clone();
    shape.parameters.retain(|name, value| {
        described.parameters.contains(name)
            || mechanism.parameters.get(name).is_none_or(|known| known.by_host || known.default != *value)
    });
    shape
}

/// What is done unless another experiment is asked for.
pub(crate) fn chosen_experiment(request: &Request, mechanism: &Mechanism) -> Experiment {
    request.experiment.unwrap_or(mechanism.experiments[0])
}
