//! What `run` and `sweep` share.

use super::formatted;
use crate::arguments::Effort;
use crate::formats::Form;
use std::collections::BTreeMap;
use switchcost_model::{Request, Run};
use switchcost_report::Style;
use switchcost_session::{Exit, Failure, Measured, Session, not_stored, output, seed};

/// Prints what was measured, and only then says that it could not be kept. Gives the run, for what is still to be said of it.
pub fn show(session: &Session, (run, stored): Measured, form: Form, style: Style) -> Result<(Run, Exit), Failure> {
    let (text, exit) = formatted(&run, &session.catalogue, form, style)?;
    output::print(&text)?;
    stored.map_err(|reason| not_stored(&reason))?;
    Ok((run, exit))
}

/// What is asked for by the options that all runs along the catalogue share.
pub fn effort(given: &Effort) -> Result<Request, Failure> {
    let mut parameters = BTreeMap::new();
    for (name, values) in &given.parameters {
        if parameters.insert(name.clone(), values.clone()).is_some() {
            return Err(Failure::usage(format!("--param {name} is given twice; join the values by commas")));
        }
    }
    Ok(Request {
        parameters,
        probes: given.probe.clone(),
        rounds: given.rounds,
        precision: given.precision,
        seed: seed(given.seed),
        batches: given.batches,
        ..Request::default()
    })
}
