//! Two builds of a probe, of two revisions or by two compilers, measured in turns: A is the first, B the second.

use super::arguments::{Compare, Pair};
use super::measured::{refuse, request, say_stopped};
use std::path::{Path, PathBuf};
use std::time::Instant;
use switchcost_analysis::Analysis;
use switchcost_model::{ProbeInfo, Request, Run, Variant};
use switchcost_report::{Compared, Unmatched};
use switchcost_runner::Selection;
use switchcost_session::{Exit, Failure, Session, not_stored, open_store};

/// The folders of both, if any is given.
pub fn folders(arguments: &Compare) -> Result<Option<[&Path; 2]>, Failure> {
    match arguments.measure.probe.as_slice() {
        [] => Ok(None),
        [a, b] => Ok(Some([a.as_path(), b.as_path()])),
        folders => Err(Failure::usage(format!(
            "--probe is given {}; give it twice: the folder of A's build, then that of B's",
            if folders.len() == 1 { "once".to_owned() } else { format!("{} times", folders.len()) }
        ))),
    }
}

/// Measures what the operands name by both builds, stores the run, and pairs its rows. What one build alone can run is told as unmatched.
pub fn measure(
    arguments: &Compare,
    folders: [&Path; 2],
    started: Instant,
    compared: &mut Compared,
) -> Result<(Run, Vec<Pair>), Failure> {
    let [a, b] = [load(folders[0], "a")?, load(folders[1], "b")?];
    let store = open_store(arguments.store.path())?;
    let ids = [a.id.clone(), b.id.clone()];
    let request = Request { patterns: arguments.operands.clone(), ..request(arguments) };
    let session = Session::by(
        |installation, catalogue, _| {
            let with_rights = |mut probe: ProbeInfo| {
                probe.capabilities = catalogue.capabilities(&probe.source);
                probe
            };
            // A control that bounds a row is another program's.
            let others = switchcost_runner::needed(&request, catalogue, installation.probes(catalogue));
            let others = others.into_iter().filter(|other| other.source != a.source && other.source != b.source);
            let others: Vec<ProbeInfo> = others.collect();
            Ok([a, b].map(with_rights).into_iter().chain(others).collect())
        },
        started,
        Some(request.budget),
        &arguments.measure.how,
    )?;
    let mut selection = Selection::default();
    let mut rows = |id: &String| -> Result<Vec<usize>, Failure> {
        Ok(selection.merge(session.select(&Request { probes: vec![id.clone()], ..request.clone() })?))
    };
    let (of_a, of_b) = (rows(&ids[0])?, rows(&ids[1])?);
    let pairs = paired(&selection, &of_a, &of_b, folders, compared);
    if pairs.is_empty() {
        let reason =
            selection.not_run.values().next().map_or("they have no row in common".to_owned(), ToString::to_string);
        let (a, b) = (folders[0].display(), folders[1].display());
        let sentence = format!("the probes in {a} and {b} have nothing to compare: {reason}");
        return Err(Failure { sentence, exit: Exit::Nothing });
    }
    selection.add_twins(&session.catalogue, &session.probes);
    // Other builds are another plan.
    let probes = folders.map(|folder| folder.display().to_string()).to_vec();
    let (run, stored) = session.measure(&Request { probes, ..request }, selection, store)?;
    stored.map_err(|reason| not_stored(&reason))?;
    refuse(&Analysis::new(&run, &session.catalogue))?;
    say_stopped(&run, arguments.measure.rounds, compared);
    Ok((run, pairs))
}

/// The probe in a folder under an id of its own: two builds have one id, as a rule.
fn load(folder: &Path, side: &str) -> Result<ProbeInfo, Failure> {
    let refused = |reason| Failure::usage(format!("--probe {}: {reason}", folder.display()));
    // A probe is started in its folder.
    let whole: PathBuf = dunce::canonicalize(folder).map_err(|error| refused(error.to_string()))?;
    let probe = switchcost_catalogue::load_trusted_probe(&whole, &switchcost_machine::only_owner_writes);
    let probe = probe.map_err(refused)?;
    Ok(ProbeInfo { id: format!("{}.{side}", probe.id), ..probe })
}

/// Rows that differ in the probe only, of those that can run.
fn paired(
    selection: &Selection,
    of_a: &[usize],
    of_b: &[usize],
    folders: [&Path; 2],
    compared: &mut Compared,
) -> Vec<Pair> {
    let key = |index: usize| Variant { probe: String::new(), ..selection.variants[index].clone() };
    let able = |rows: &[usize]| -> Vec<usize> {
        rows.iter().copied().filter(|row| !selection.not_run.contains_key(row)).collect()
    };
    let (of_a, of_b) = (able(of_a), able(of_b));
    let partner = |row: usize, others: &[usize]| others.iter().copied().find(|other| key(*other) == key(row));
    for (folder, lost, rows, others) in [(folders[0], true, &of_a, &of_b), (folders[1], false, &of_b, &of_a)] {
        let alone = rows.iter().filter(|row| partner(**row, others).is_none());
        let labels: Vec<String> = alone.map(|row| selection.variants[*row].mechanism.to_string()).collect();
        if !labels.is_empty() {
            compared.unmatched.push(Unmatched { only: folder.display().to_string(), lost, labels });
        }
    }
    of_a.iter().filter_map(|&a| Some(Pair { run: 0, rows: (a, partner(a, &of_b)?), asked: None })).collect()
}
