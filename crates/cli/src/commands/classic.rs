//! `classic`: the programs of the write-ups.

use crate::arguments::{self, CompareFormat};
use crate::formats::Form;
use std::time::{Duration, Instant};
use switchcost_analysis::Analysis;
use switchcost_catalogue::{Arguments, Program, ProgramRow};
use switchcost_model::{Request, Run};
use switchcost_report::{Performance, ProgramRows, Style};
use switchcost_runner::{RequestError, Selection, Sizes, choices};
use switchcost_session::{Exit, Failure, Installation, Session, not_stored, open_store, output, seed, status};

/// Name that stands for all programs.
const ALL: &str = "all";

/// Carries out one program or all, or lists them.
pub fn classic(arguments: &arguments::Classic, started: Instant) -> Result<Exit, Failure> {
    let folder = Installation::find()?.data("classic");
    let programs = switchcost_catalogue::load_programs(&folder).map_err(Failure::usage)?;
    let Some(name) = &arguments.program else {
        output::print(&match arguments.format {
            CompareFormat::Json => switchcost_report::programs_json(&programs),
            CompareFormat::Table | CompareFormat::Md => switchcost_report::programs_text(&programs, output::style()),
        })?;
        return Ok(Exit::Fine);
    };
    let chosen = choose(&programs, name, &arguments.arguments)?;
    let mut parts = Vec::new();
    for program in chosen {
        match program.arguments_of(&arguments.arguments) {
            Ok(values) => parts.push((program, values)),
            Err(usage) => {
                output::print(&usage)?;
                return Ok(Exit::Other(program.refusal_status));
            }
        }
    }
    perform(arguments, &parts, started)
}

fn choose<'a>(programs: &'a [Program], name: &str, arguments: &[String]) -> Result<Vec<&'a Program>, Failure> {
    if name == ALL {
        if arguments.is_empty() {
            return Ok(programs.iter().collect());
        }
        return Err(Failure::usage("`classic all` takes no arguments: each program has its own; name one of them"));
    }
    let found: Vec<&Program> = programs.iter().filter(|program| program.name == name).collect();
    if found.is_empty() {
        let known: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
        return Err(Failure::usage(format!("there is no program `{name}`; there are {} and {ALL}", known.join(", "))));
    }
    Ok(found)
}

/// One program, planned and measured.
struct Played {
    run: Run,
    rows: ProgramRows,
}

fn perform(arguments: &arguments::Classic, parts: &[(&Program, Arguments)], started: Instant) -> Result<Exit, Failure> {
    let store = || open_store(arguments.store.store.as_deref());
    store()?; // What cannot be kept need not be measured.
    let mut session = Session::new(started, None, false)?;
    let mut played = Vec::new();
    let mut storing = Ok(());
    for (index, (program, values)) in parts.iter().enumerate() {
        // Each program has a budget of its own; the first one's began with the process.
        if index > 0 {
            session.begin_anew();
        }
        let request = request(arguments, program);
        let mut selection = Selection::default();
        let rows = plan(arguments, program, values, &request, &session, &mut selection)?;
        selection.add_twins(&session.catalogue, &session.probes);
        let (run, stored) = session.measure(&request, selection, store()?)?;
        storing = storing.and(stored.map_err(|reason| not_stored(&reason)));
        let stopped = run.ended_by == switchcost_model::EndedBy::Interrupt;
        played.push(Played { run, rows });
        if stopped {
            break;
        }
    }
    let ignored = |program: &Program| program.usage.is_none() && !arguments.arguments.is_empty();
    let readable: Vec<Run> = match arguments.format {
        CompareFormat::Json => played.iter().map(|played| played.run.clone()).collect(),
        CompareFormat::Table | CompareFormat::Md => played.iter().map(|played| played.run.harmless()).collect(),
    };
    let analyses: Vec<Analysis<'_>> = readable.iter().map(|run| Analysis::new(run, &session.catalogue)).collect();
    let performances: Vec<Performance<'_>> = parts
        .iter()
        .zip(played.iter().zip(&analyses))
        .map(|((program, values), (played, run))| Performance {
            program,
            arguments: values.clone(),
            ignored: ignored(program),
            run,
            rows: played.rows.clone(),
        })
        .collect();
    output::print(&shown(arguments, &performances)?)?;
    storing?;
    let stopped = if played.len() < parts.len() { Exit::Partial } else { Exit::Fine };
    Ok(analyses.iter().map(status).fold(stopped, worse))
}

fn shown(arguments: &arguments::Classic, performances: &[Performance<'_>]) -> Result<String, Failure> {
    let all = arguments.program.as_deref() == Some(ALL);
    if arguments.format == CompareFormat::Json {
        let runs = performances.iter().map(|performance| Form::named("json").write(performance.run, Style::PLAIN));
        let runs = runs.collect::<Result<Vec<_>, _>>().map_err(Failure::internal)?;
        return Ok(if all { format!("[{}]\n", runs.join(",")) } else { runs.concat() });
    }
    let section = |performance| {
        if all || arguments.format == CompareFormat::Md {
            switchcost_report::classic_markdown(performance)
        } else {
            switchcost_report::classic_text(performance, output::style())
        }
    };
    let title = if all { "# The programs of five write-ups, carried out again\n\n" } else { "" };
    Ok(title.to_owned() + &performances.iter().map(section).collect::<Vec<_>>().join("\n"))
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

fn request(arguments: &arguments::Classic, program: &Program) -> Request {
    Request {
        rounds: Some(arguments.rounds.unwrap_or(program.rounds)),
        budget: arguments.budget.unwrap_or(Duration::from_secs(program.budget_s)),
        seed: seed(arguments.seed),
        ..Request::default()
    }
}

/// The rows that belong to an asked placement.
fn plan(
    arguments: &arguments::Classic,
    program: &Program,
    values: &Arguments,
    request: &Request,
    session: &Session,
    selection: &mut Selection,
) -> Result<ProgramRows, Failure> {
    let mut rows = ProgramRows::new();
    for row in &program.rows {
        if !arguments.placement.is_empty() && !arguments.placement.contains(&row.placement) {
            continue;
        }
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

/// Ids of all probes that can carry the mechanism out; none is left to the ordinary choice, which says why.
fn every_probe(row: &ProgramRow, session: &Session) -> Vec<String> {
    let Some(mechanism) = session.catalogue.find(&row.mechanism) else { return Vec::new() };
    choices(mechanism, &session.probes).into_iter().map(|(probe, _)| probe.info.id.clone()).collect()
}

/// The original's work, spread over rounds and batches.
fn sizes(row: &ProgramRow, request: &Request, work: u64) -> Sizes {
    let parts = request.rounds.unwrap_or(1).saturating_mul(row.batches);
    let spread = work.div_ceil(parts).clamp(1, row.most_batch_units);
    Sizes { batch_units: row.batch_units.unwrap_or(spread), batches: row.batches }
}
