//! Values of data files: words of the model, and parameters of mechanisms.

use std::collections::BTreeMap;
use switchcost_model::{self as model, Experiment};

pub(crate) fn word<T: std::str::FromStr<Err = model::IdError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: model::IdError| error.0)
}

pub(crate) fn check_parameters(
    given: &BTreeMap<String, String>,
    known: &BTreeMap<String, model::Parameter>,
) -> Result<(), String> {
    for (name, value) in given {
        let parameter = known.get(name).ok_or_else(|| format!("there is no parameter `{name}`"))?;
        parameter.accepts(value).map_err(|what| format!("parameter {name}: {what}"))?;
    }
    Ok(())
}

/// The same, of a row of this experiment.
pub(crate) fn check_taken(
    given: &BTreeMap<String, String>,
    known: &BTreeMap<String, model::Parameter>,
    experiment: Experiment,
) -> Result<(), String> {
    check_parameters(given, known)?;
    match given.keys().find(|name| !known[*name].experiments.contains(&experiment)) {
        Some(name) => Err(format!("parameter {name} changes nothing in experiment {experiment}")),
        None => Ok(()),
    }
}
