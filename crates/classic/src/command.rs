//! `classic`: the programs of the write-ups.

use crate::arguments::Classic;
use crate::programs::{Arguments, Program, Row, load_programs};
use crate::text::{Performance, Rows, performance_json, performance_text, programs_text};
use std::time::{Duration, Instant};
use switchcost_analysis::Analysis;
use switchcost_catalogue::grammar::did_you_mean;
use switchcost_model::{EndedBy, Request, Run};
use switchcost_runner::{RequestError, Selection, Sizes, choices};
use switchcost_session::arguments::ListFormat;
use switchcost_session::{
    Action, CONTINUES, Exit, Failure, Installation, Session, not_stored, open_store, output, seed, status,
};

/// Name that stands for all programs.
const ALL: &str = "all";

impl Action for Classic {
    /// Carries out one program or all, or lists them.
    fn carry_out(&self, started: Instant) -> Result<Exit, Failure> {
        let programs = load_programs(&Installation::find()?.data("classic")).map_err(Failure::usage)?;
        let Some(name) = &self.program else {
            output::print(&programs_text(&programs, self.verbose, output::style()))?;
            return Ok(Exit::Fine);
        };
        if name == ALL && !self.arguments.is_empty() {
            return Err(Failure::usage("`classic all` takes no arguments: each program has its own; name one of them"));
        }
        let chosen: Vec<&Program> = programs.iter().filter(|program| name == ALL || program.name == *name).collect();
        if chosen.is_empty() {
            let known: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
            let near = did_you_mean(name, known.iter().copied());
            let known = known.join(", ");
            return Err(Failure::usage(format!("there is no program `{name}`{near}; there are {known} and {ALL}")));
        }
        let mut parts = Vec::new();
        for program in chosen {
            match program.arguments_of(&self.arguments) {
                Ok(values) => parts.push((program, values)),
                Err(usage) => {
                    output::print(&usage)?;
                    return Ok(Exit::Other(program.refusal_status));
                }
            }
        }
        perform(self, &parts, started)
    }
}

fn perform(arguments: &Classic, parts: &[(&Program, Arguments)], started: Instant) -> Result<Exit, Failure> {
    let store = || open_store(arguments.store.path());
    store()?; // What cannot be kept need not be measured.
    let rows = parts.iter().flat_map(|(program, _)| &program.rows).map(|row| row.mechanism.to_string());
    let mut session = Session::of_mechanisms(rows.collect(), started, &arguments.how)?;
    let mut played: Vec<(Run, Rows)> = Vec::new();
    let mut storing = Ok(());
    for (program, values) in parts {
        // Each program has a budget of its own; the first one's began with the process.
        if let Some((before, _)) = played.last() {
            session.begin_anew(before);
        }
        let request = request(arguments, program, values);
        let mut selection = Selection::default();
        let rows = plan(arguments, program, values, &request, &session, &mut selection)?;
        selection.add_twins(&session.catalogue, &session.probes);
        let (mut run, stored) = session.measure(&request, selection, store()?)?;
        storing = storing.and(stored.map_err(|reason| not_stored(&reason)));
        let stopped = run.ended_by == EndedBy::Interrupt;
        if arguments.format == ListFormat::Table {
            run.make_harmless();
        }
        played.push((run, rows));
        if stopped {
            output::say(&format!("stopped while it measured; {CONTINUES}"));
            break;
        }
    }
    let performances: Vec<Performance<'_>> = parts
        .iter()
        .zip(&played)
        .map(|((program, values), (run, rows))| Performance {
            program,
            arguments: values,
            ignored: program.usage.is_none() && !arguments.arguments.is_empty(),
            run: Analysis::new(run, &session.catalogue),
            rows,
        })
        .collect();
    output::print(&shown(arguments, &performances)?)?;
    storing?;
    let stopped = if played.len() < parts.len() { Exit::Partial } else { Exit::Fine };
    Ok(performances.iter().map(|performance| status(&performance.run)).fold(stopped, worse))
}

fn shown(arguments: &Classic, performances: &[Performance<'_>]) -> Result<String, Failure> {
    let all = arguments.program.as_deref() == Some(ALL);
    if arguments.format == ListFormat::Json {
        let runs: Result<Vec<String>, String> = performances.iter().map(performance_json).collect();
        let runs = runs.map_err(Failure::internal)?;
        return Ok(if all { format!("[{}]\n", runs.join(",")) } else { runs.concat() });
    }
    let style = (!all).then(output::style);
    let sections: Vec<String> =
        performances.iter().map(|performance| performance_text(performance, style, arguments.verbose)).collect();
    let title = if all { "# The programs of five write-ups, carried out again\n\n" } else { "" };
    Ok(title.to_owned() + &sections.join("\n"))
}

/// What decides when several programs ended differently.
fn worse(a: Exit, b: Exit) -> Exit {
    let rank = |exit: Exit| match exit {
        Exit::Fine => 0,
        Exit::Nothing => 1,
        Exit::Partial => 2,
        _ => 3,
    };
    if rank(b) > rank(a) { b } else { a }
}

fn request(arguments: &Classic, program: &Program, values: &Arguments) -> Request {
    Request {
        // The same rows do another work in another program.
        patterns: [program.name.clone()].into_iter().chain(values.values().map(u64::to_string)).collect(),
        rounds: Some(arguments.rounds.unwrap_or(program.rounds).max(1)),
        budget: arguments.budget.unwrap_or(Duration::from_secs(program.budget_s.max(1))),
        seed: seed(arguments.how.seed),
        ..Request::default()
    }
}

/// The rows that belong to an asked placement.
fn plan(
    arguments: &Classic,
    program: &Program,
    values: &Arguments,
    request: &Request,
    session: &Session,
    selection: &mut Selection,
) -> Result<Rows, Failure> {
    let asked = |row: &&Row| arguments.placement.is_empty() || arguments.placement.contains(&row.placement);
    let mut rows = Rows::new();
    for row in program.rows.iter().filter(asked) {
        let work = row.work.of(values);
        let wanted = Request {
            patterns: vec![row.mechanism.to_string()],
            experiment: Some(row.experiment),
            contexts: vec![row.contexts.of(values)],
            placements: vec![row.placement],
            timing: row.timing,
            parameters: row.parameters.iter().map(|(name, value)| (name.clone(), vec![value.clone()])).collect(),
            probes: if row.every_probe { every_probe(row, session) } else { Vec::new() },
            ..request.clone()
        };
        rows.push(match switchcost_runner::select(&wanted, &session.catalogue, &session.probes) {
            Ok(found) => Ok((selection.merge_as(found, &row.label, sizes(row, request, work)), work)),
            Err(RequestError::UnknownMechanism { .. }) => {
                Err(format!("{} is not described in this installation", row.mechanism))
            }
            Err(other) => return Err(Failure::internal(other)),
        });
    }
    if rows.is_empty() {
        let known: Vec<String> = program.rows.iter().map(|row| row.placement.to_string()).collect();
        return Err(Failure::usage(format!("--placement: {} has only {}", program.name, known.join(", "))));
    }
    Ok(rows)
}

/// Ids of all probes that can carry the mechanism out; none is left to the ordinary choice, which
/// says why.
fn every_probe(row: &Row, session: &Session) -> Vec<String> {
    let Some(mechanism) = session.catalogue.find(&row.mechanism) else { return Vec::new() };
    choices(mechanism, &session.probes).into_iter().map(|(probe, _)| probe.info.id.clone()).collect()
}

/// The original's work, spread over rounds and batches.
fn sizes(row: &Row, request: &Request, work: u64) -> Sizes {
    let batches = row.batches.max(1);
    let spread = work.div_ceil(request.rounds.unwrap_or(1).saturating_mul(batches));
    let spread = spread.min(row.most_batch_units.unwrap_or(u64::MAX)).max(1);
    Sizes { batch_units: row.batch_units.unwrap_or(spread), batches }
}
