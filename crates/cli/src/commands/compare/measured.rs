//! Operands, or two builds, that are measured now, side by side in one run.

use super::arguments::Compare;
use super::builds::{self, Builds};
use super::operands::{Operand, PUBLISHED, Which, find_published};
use std::time::{Duration, Instant};
use switchcost_analysis::{Analysis, Incomparable, alike, short_of};
use switchcost_catalogue::Published;
use switchcost_model::{EndedBy, Request, Run, TWIN, Variant};
use switchcost_report::{Compared, incomparable};
use switchcost_runner::Selection;
use switchcost_session::{CONTINUES, Exit, Failure, Session, not_stored, open_store, seed, status};

/// Rows of one operand, or of one build, in the selection.
struct Chosen {
    text: String,
    rows: Vec<usize>,
    many: bool,
}

/// Measures all operands in turns, or what they name by both builds, stores the run, and says which
/// of its rows each side names.
pub fn measure(
    arguments: &Compare,
    given: Option<&Builds>,
    started: Instant,
    compared: &mut Compared,
) -> Result<(Run, Vec<Operand>), Failure> {
    let store = open_store(arguments.store.path())?;
    let request = request(arguments);
    let (published, rows): (Vec<&String>, Vec<&String>) =
        arguments.operands.iter().partition(|text| text.starts_with(PUBLISHED));
    let published: Vec<Published> =
        published.iter().map(|text| find_published(&text[PUBLISHED.len()..])).collect::<Result<_, _>>()?;
    let all = Request { patterns: rows.iter().map(|text| (*text).clone()).collect(), ..request.clone() };
    let builds = given.map(|given| builds::load(given.folders())).transpose()?;
    let session = match &builds {
        Some(builds) => builds::session(builds, &all, arguments, started)?,
        None => Session::answering(&all, started, &arguments.measure.how)?,
    };
    let mut selection = Selection::default();
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut choose = |text: String, many: bool, request: &Request| -> Result<(), Failure> {
        let rows = selection.merge(session.select(request)?);
        let rows = runnable(&selection, rows).map_err(|reason| nothing(&text, given, &reason))?;
        chosen.push(Chosen { text, rows, many });
        Ok(())
    };
    match given.zip(builds) {
        Some((given, builds)) => {
            for (name, build) in given.names.iter().zip(builds) {
                choose(name.clone(), true, &Request { probes: vec![build.id], ..all.clone() })?;
            }
        }
        None => {
            for text in rows {
                let many = session.catalogue.pattern(text).map_err(Failure::usage)?.is_many();
                choose(text.clone(), many, &Request { patterns: vec![text.clone()], ..request.clone() })?;
            }
        }
    }
    let request = match given {
        // Other builds are another plan.
        Some(given) => Request { probes: given.names.to_vec(), ..all },
        None => request,
    };
    let itself = match given {
        Some(_) => in_common(&selection, &chosen, given).map(|()| false)?,
        None => alike_at_all(&selection, &chosen, &session).and_then(|()| double(&mut selection, &mut chosen))?,
    };
    if !itself {
        selection.add_twins(&session.catalogue, &session.probes);
    }
    let (run, stored) = session.measure(&request, selection, store)?;
    stored.map_err(|reason| not_stored(&reason))?;
    refuse(&Analysis::new(&run, &session.catalogue))?;
    say_stopped(&run, arguments.measure.rounds, compared);
    let operand = |Chosen { text, rows, many }| Operand::Rows { text, run: 0, which: Which::Rows { rows, many } };
    Ok((run, chosen.into_iter().map(operand).chain(published.into_iter().map(Operand::Published)).collect()))
}

/// Refuses two builds without a row in common, before anything is measured.
fn in_common(selection: &Selection, chosen: &[Chosen], given: Option<&Builds>) -> Result<(), Failure> {
    let [a, b] = chosen else { return Ok(()) };
    let row = |index: &usize| Variant { probe: String::new(), ..selection.variants[*index].clone() };
    if a.rows.iter().any(|a| b.rows.iter().any(|b| row(a) == row(b))) {
        return Ok(());
    }
    Err(nothing("", given, "they have no row in common"))
}

/// Refuses two rows that measure different things, before either is measured.
fn alike_at_all(selection: &Selection, chosen: &[Chosen], session: &Session) -> Result<(), Failure> {
    for other in chosen.get(1..).unwrap_or_default() {
        if let ([a], [b]) = (chosen[0].rows.as_slice(), other.rows.as_slice()) {
            let labels = (chosen[0].text.clone(), other.text.clone());
            alike(&selection.variants[*a], &selection.variants[*b], &session.catalogue)
                .map_err(|why| Failure::usage(incomparable(&Incomparable { labels, why })))?;
        }
    }
    Ok(())
}

/// How it is measured.
pub fn request(arguments: &Compare) -> Request {
    let arguments = &arguments.measure;
    Request {
        rounds: Some(arguments.rounds.unwrap_or(20)),
        budget: arguments.budget.unwrap_or(Duration::from_secs(60)),
        seed: seed(arguments.how.seed),
        ..Request::default()
    }
}

/// The rows that can run here; none is a failure with the first reason.
fn runnable(selection: &Selection, rows: Vec<usize>) -> Result<Vec<usize>, String> {
    let able: Vec<usize> = rows.iter().copied().filter(|row| !selection.not_run.contains_key(row)).collect();
    if !able.is_empty() {
        return Ok(able);
    }
    let reason = rows.first().and_then(|row| selection.not_run.get(row));
    Err(reason.map_or("nothing fits".to_owned(), ToString::to_string))
}

fn nothing(text: &str, given: Option<&Builds>, reason: &str) -> Failure {
    Failure::nothing(match given.map(|given| &given.names) {
        Some([a, b]) => format!("the probes in {a} and {b} have nothing to compare: {reason}"),
        None => format!("`{text}` cannot be measured here: {reason}"),
    })
}

/// Two operands that mean the same row are an A/A test: the second is measured under another label.
/// True: so it is.
fn double(selection: &mut Selection, chosen: &mut [Chosen]) -> Result<bool, Failure> {
    let [first, others @ ..] = chosen else {
        return Err(Failure::usage("a published figure is not a reference: put a row first"));
    };
    let [second] = others else { return Ok(false) };
    let ([a], [b]) = (first.rows.as_slice(), second.rows.as_slice()) else { return Ok(false) };
    if a != b {
        return Ok(false);
    }
    let twin = Variant { label: TWIN.to_owned(), ..selection.variants[*a].clone() };
    second.rows = vec![selection.variants.len()];
    selection.variants.push(twin);
    Ok(true)
}

/// If it was stopped before it had the rounds that were asked for, by the user or by its budget,
/// the answer is of what there is.
pub(super) fn say_stopped(run: &Run, rounds: Option<u64>, compared: &mut Compared) {
    let by = match run.ended_by {
        EndedBy::Interrupt => "Stopped while it measured",
        EndedBy::Budget if short_of(run, rounds) => "The budget ended before all rounds",
        _ => return,
    };
    compared.stopped = true;
    compared.notes.push(format!("{by}: this is what there is; {CONTINUES}."));
}

/// Where nothing bears a comparison, the reason of the first bad row.
pub(super) fn refuse(analysis: &Analysis<'_>) -> Result<(), Failure> {
    let exit = status(analysis);
    if !matches!(exit, Exit::Contradicted | Exit::Nothing) {
        return Ok(());
    }
    let worst = analysis.rows.iter().max_by_key(|row| row.verdict);
    let why = worst.map_or("nothing was measured".to_owned(), |row| {
        format!("{} is {}: {}", row.variant.mechanism, row.verdict, row.why())
    });
    Err(Failure { sentence: format!("run {} bears no comparison: {why}", analysis.run.id), exit })
}
