//! Operands that are measured now, side by side in one run.

use super::arguments::Compare;
use super::operands::{Operand, Which, find_published};
use std::time::{Duration, Instant};
use switchcost_analysis::{Analysis, Incomparable, alike, short_of};
use switchcost_model::{EndedBy, Request, Run, TWIN, Variant};
use switchcost_report::{Compared, incomparable};
use switchcost_runner::Selection;
use switchcost_session::{CONTINUES, Exit, Failure, Session, not_stored, open_store, seed, status};

/// Rows of one operand in the selection.
struct Chosen {
    text: String,
    rows: Vec<usize>,
    many: bool,
}

/// Measures all operands in turns, stores the run, and says which of its rows each operand names.
pub fn measure(arguments: &Compare, started: Instant, compared: &mut Compared) -> Result<(Run, Vec<Operand>), Failure> {
    let store = open_store(arguments.store.path())?;
    let request = request(arguments);
    let rows = arguments.operands.iter().filter(|text| !text.starts_with("published:")).cloned().collect();
    let all = Request { patterns: rows, ..request.clone() };
    let session = Session::answering(&all, started, &arguments.measure.how)?;
    let mut selection = Selection::default();
    let mut published = Vec::new();
    let mut chosen: Vec<Chosen> = Vec::new();
    for text in &arguments.operands {
        if let Some(name) = text.strip_prefix("published:") {
            published.push(Operand::Published(find_published(name)?));
            continue;
        }
        let many = session.catalogue.pattern(text).map_err(Failure::usage)?.is_many();
        let rows = session.select(&Request { patterns: vec![text.clone()], ..request.clone() })?;
        let rows = selection.merge(rows);
        let rows = runnable(&selection, rows, text)?;
        chosen.push(Chosen { text: text.clone(), many, rows });
    }
    for other in chosen.get(1..).unwrap_or_default() {
        if let ([a], [b]) = (chosen[0].rows.as_slice(), other.rows.as_slice()) {
            let labels = (chosen[0].text.clone(), other.text.clone());
            alike(&selection.variants[*a], &selection.variants[*b], &session.catalogue)
                .map_err(|why| Failure::usage(incomparable(&Incomparable { labels, why })))?;
        }
    }
    let itself = double(&mut selection, &mut chosen)?;
    if !itself {
        selection.add_twins(&session.catalogue, &session.probes);
    }
    let (run, stored) = session.measure(&request, selection, store)?;
    stored.map_err(|reason| not_stored(&reason))?;
    refuse(&Analysis::new(&run, &session.catalogue))?;
    say_stopped(&run, arguments.measure.rounds, compared);
    let operands = chosen
        .into_iter()
        .map(|Chosen { text, rows, many }| Operand::Rows { text, run: 0, which: Which::Rows { rows, many } })
        .chain(published)
        .collect();
    Ok((run, operands))
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
fn runnable(selection: &Selection, rows: Vec<usize>, text: &str) -> Result<Vec<usize>, Failure> {
    let able: Vec<usize> = rows.iter().copied().filter(|row| !selection.not_run.contains_key(row)).collect();
    if able.is_empty() {
        let reason = rows
            .first()
            .and_then(|row| selection.not_run.get(row))
            .map_or("nothing fits".to_owned(), ToString::to_string);
        return Err(Failure { sentence: format!("`{text}` cannot be measured here: {reason}"), exit: Exit::Nothing });
    }
    Ok(able)
}

/// Two operands that mean the same row are an A/A test: the second is measured under another label. True: so it is.
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

/// If it was stopped before it had the rounds that were asked for, by the user or by its budget, the answer is of what there is.
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
