//! `fleet judge --confirm`: odd nodes and two others are measured again, and who is not odd again
//! is not named.

use super::{files, plan};
use crate::answer::{Fleet, Round, is_plain};
use crate::arguments::{FleetJudge, Launch, Launcher};
use crate::data::fleet_plan;
use std::collections::BTreeMap;
use std::path::PathBuf;
use switchcost_catalogue::Catalogue;
use switchcost_session::{Failure, output, random_number};

/// Nodes beside the odd ones: what moved the whole fleet meanwhile moves them as well.
const OTHERS: usize = 2;

/// Measures again, judges the last round with the new runs in the place of the old, and takes back
/// what does not show again. `expected` knows physical hosts: two odd nodes of one must not slow
/// one another.
pub fn confirm(
    fleet: &mut Fleet,
    mut rounds: Vec<Round>,
    launcher: Launcher,
    arguments: &FleetJudge,
    expected: &[(String, Option<String>)],
    catalogue: &Catalogue,
) -> Result<(), Failure> {
    let plain =
        |odd: bool| fleet.nodes.iter().filter(move |node| node.odd == odd && node.judged && is_plain(&node.node));
    let suspected: Vec<String> = plain(true).map(|node| node.node.clone()).collect();
    let quiet: Vec<&String> = plain(false).map(|node| &node.node).collect();
    let others = fastrand::Rng::with_seed(random_number()).choose_multiple(quiet, OTHERS);
    let again: Vec<String> = suspected.into_iter().chain(others.into_iter().cloned()).collect();
    let folder = folder(arguments);
    let launch = Launch { launcher, program: arguments.program.clone(), image: arguments.image.clone() };
    output::say(&format!("measures {} nodes again, into {}", again.len(), folder.display()));
    let hosts: BTreeMap<&String, &Option<String>> = expected.iter().map(|(name, host)| (name, host)).collect();
    let host = |name: &String| hosts.get(name).copied().cloned().flatten();
    let waves = plan::waves(again.iter().map(|name| (name.clone(), host(name))).collect());
    let script = plan::script(&launch, &waves, &folder, &[])?;
    if let Err(failure) = plan::run(&script, launcher) {
        output::say(&format!("switchcost: {}", failure.sentence));
    }
    let (second, problems) = files::round(&folder, catalogue, &fleet_plan(), None)?;
    fleet.problems.extend(problems);
    let Some(last) = rounds.last_mut() else { return Ok(()) };
    let mut measured = Vec::new();
    for (name, run) in second.into_iter().filter(|(name, _)| again.contains(name)) {
        if let Ok(place) = last.binary_search_by(|(node, _)| node.cmp(&name)) {
            last[place].1 = run;
            measured.push(name);
        }
    }
    fleet.confirm(&Fleet::judge(&rounds, None, Vec::new()), &measured);
    Ok(())
}

/// A folder beside the last round that is not there yet.
fn folder(arguments: &FleetJudge) -> PathBuf {
    let last = arguments.folders.last().cloned().unwrap_or_default();
    let name = last.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let candidate = |number: usize| last.with_file_name(format!("{name}-again-{number}"));
    (1..).map(candidate).find(|path| !path.exists()).unwrap_or_else(|| candidate(1))
}
