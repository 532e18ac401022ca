//! `fleet judge`: which nodes are unlike the others.

use super::nodes::nodes;
use super::{confirm, files};
use crate::answer::{Fleet, fleet_json, fleet_page, fleet_text};
use crate::arguments;
use crate::data::fleet_plan;
use switchcost_session::arguments::ListFormat;
use switchcost_session::{Exit, Failure, Installation, output};

/// Judges.
pub fn judge(arguments: &arguments::FleetJudge) -> Result<Exit, Failure> {
    let expected = arguments.expect.as_deref().map(|given| nodes("--expect", given)).transpose()?;
    let names: Option<Vec<String>> =
        expected.as_ref().map(|nodes| nodes.iter().map(|(name, _)| name.clone()).collect());
    let catalogue = Installation::find()?.catalogue()?;
    let plan = fleet_plan();
    let (mut rounds, mut problems) = (Vec::new(), Vec::new());
    for folder in &arguments.folders {
        let (round, of_round) = files::round(folder, &catalogue, &plan, names.as_deref())?;
        rounds.push(round);
        problems.extend(of_round);
    }
    problems.extend(files::order(&arguments.folders, &mut rounds));
    let mut fleet = Fleet::judge(&rounds, names.as_deref(), problems);
    if let (Some(launcher), true) = (arguments.confirm, fleet.any_odd()) {
        confirm::confirm(&mut fleet, rounds, launcher, arguments, &expected.unwrap_or_default(), &catalogue)?;
    }
    if let Some(page) = &arguments.page {
        output::write_file(page, fleet_page(&fleet).as_bytes())?;
    }
    output::print(&match arguments.format {
        ListFormat::Table => fleet_text(&fleet, output::style()),
        ListFormat::Json => fleet_json(&fleet),
    })?;
    Ok(status(&fleet))
}

fn status(fleet: &Fleet) -> Exit {
    if fleet.any_odd() {
        return Exit::Difference;
    }
    if !fleet.groups.iter().any(|group| group.judged) || fleet.any_kinds() || fleet.disturbed().is_some() {
        return Exit::Nothing;
    }
    let left_out = fleet.problems.iter().any(|problem| problem.left_out);
    let unjudged = fleet.nodes.iter().any(|node| fleet.groups[node.group].judged && !node.judged);
    if left_out || unjudged || !fleet.missing.is_empty() { Exit::Partial } else { Exit::Fine }
}
