//! `crosscheck`: other tools beside ours, in turns.

use crate::arguments::Crosscheck;
use crate::beside::beside;
use crate::latencies::Latencies;
use crate::peers::{Peer, load_peers};
use crate::start::{PeerOutcome, run_peer};
use crate::text::{CrosscheckFigures, CrosscheckRow, crosscheck_json, crosscheck_text};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use switchcost_analysis::number::roughly;
use switchcost_analysis::{Analysis, label};
use switchcost_catalogue::grammar::Pattern;
use switchcost_machine::cpus::Cpus;
use switchcost_model::{EndedBy, Invocation, Request, Run, Verdict};
use switchcost_runner::{Observer, Selection, execute};
use switchcost_session::arguments::{ListFormat, Measuring};
use switchcost_session::{Action, Exit, Failure, Installation, Progress, Session, output, seed};

/// Longer than any number of rounds: each tool has a time limit of its own.
const NO_BUDGET: Duration = Duration::from_secs(86_400 * 365);

/// A tool with what came of it so far.
struct Pair {
    peer: Peer,
    program: Option<PathBuf>,
    /// Index into the mechanisms of ours.
    ours: usize,
    /// Figure of each round, in its own unit.
    figures: Vec<Option<f64>>,
    /// Of latencies: ours counted by its rule, and of all intended times.
    counted: Vec<Option<(f64, f64)>>,
    /// Why it is not run, or no more.
    failure: Option<String>,
}

/// A mechanism of ours with what came of it so far.
struct Ours {
    request: Request,
    selection: Selection,
    label: String,
    figures: Vec<Option<f64>>,
    /// Rounds in which other programs disturbed it.
    disturbed: Vec<bool>,
    failure: Option<String>,
}

/// What is started in a round.
#[derive(Clone, Copy)]
enum Task {
    Peer(usize),
    Ours(usize),
}

impl Action for Crosscheck {
    /// Measures tools and ours in turns.
    fn carry_out(&self, started: Instant) -> Result<Exit, Failure> {
        let mut peers = load_peers(&Installation::find()?.data("crosscheck")).map_err(Failure::usage)?;
        choose(&mut peers, &self.tools)?;
        let rows = peers.iter().map(|peer| peer.mechanism.to_string()).collect();
        let session = Session::of_mechanisms(rows, started, &Measuring::default())?;
        let mut random = fastrand::Rng::with_seed(seed(self.seed));
        let (mut pairs, mut ours) = plan(peers, &session)?;
        session.step_aside()?;
        let interrupted = rounds(self.rounds, &mut pairs, &mut ours, &session, &mut random);
        let rows: Vec<CrosscheckRow> = pairs.iter().map(|pair| row(pair, &ours[pair.ours], &session.cpus)).collect();
        output::print(&match self.format {
            ListFormat::Table => crosscheck_text(&rows, output::style()),
            ListFormat::Json => crosscheck_json(&rows),
        })?;
        Ok(match rows.iter().any(|row| row.measured.is_some()) {
            _ if interrupted => Exit::Partial,
            true => Exit::Fine,
            false => Exit::Nothing,
        })
    }
}

fn choose(peers: &mut Vec<Peer>, patterns: &[String]) -> Result<(), Failure> {
    if patterns.is_empty() {
        return Ok(());
    }
    let known = peers.iter().map(|peer| peer.id.clone()).collect::<Vec<_>>().join(", ");
    let patterns: Vec<Pattern<'_>> =
        patterns.iter().map(|text| Pattern::parse(text)).collect::<Result<_, _>>().map_err(Failure::usage)?;
    if let Some(nobody) = patterns.iter().find(|pattern| !peers.iter().any(|peer| pattern.names(&peer.id))) {
        return Err(Failure::usage(format!("no tool is called `{}`; there are {known}", nobody.name())));
    }
    peers.retain(|peer| patterns.iter().any(|pattern| pattern.names(&peer.id)));
    Ok(())
}

/// Which programs are here, and which mechanisms of ours stand beside them, each only once.
fn plan(peers: Vec<Peer>, session: &Session) -> Result<(Vec<Pair>, Vec<Ours>), Failure> {
    let mut all: Vec<Ours> = Vec::new();
    let mut pairs = Vec::new();
    for peer in peers {
        let request = Request {
            patterns: vec![peer.mechanism.to_string()],
            experiment: peer.experiment,
            placements: vec![peer.placement],
            parameters: peer.parameters.iter().map(|(name, value)| (name.clone(), vec![value.clone()])).collect(),
            rounds: Some(1),
            budget: NO_BUDGET,
            ..Request::default()
        };
        let selection = session.select(&request)?;
        let ours = all.iter().position(|known| known.selection == selection).unwrap_or_else(|| {
            let label = selection.variants.first().map_or(String::new(), |v| label(v, &session.catalogue, false));
            let failure = selection.not_run.get(&0).map(|reason| format!("{label} cannot run here: {reason}"));
            all.push(Ours { request, selection, label, figures: Vec::new(), disturbed: Vec::new(), failure });
            all.len() - 1
        });
        let program = switchcost_machine::spawn::find_program(&peer.program, &peer.look_in);
        let failure = match &program {
            None => Some(format!("{} is not installed; package {} brings it", peer.program, peer.package)),
            Some(_) => all[ours].failure.clone(),
        };
        pairs.push(Pair { peer, program, ours, figures: Vec::new(), counted: Vec::new(), failure });
    }
    Ok((pairs, all))
}

/// Goes through the rounds; true if the user stopped it.
fn rounds(count: u64, pairs: &mut [Pair], ours: &mut [Ours], session: &Session, random: &mut fastrand::Rng) -> bool {
    let (mut progress, began) = (Progress::drawn(), Instant::now());
    let mut done: u32 = 0;
    for round in 0..count {
        let able = |pair: &Pair, ours: &[Ours]| pair.failure.is_none() && ours[pair.ours].failure.is_none();
        let mut tasks: Vec<Task> = (0..pairs.len()).filter(|&i| able(&pairs[i], ours)).map(Task::Peer).collect();
        let wanted = |index: usize| pairs.iter().any(|pair| pair.ours == index && able(pair, ours));
        tasks.extend((0..ours.len()).filter(|&i| wanted(i)).map(Task::Ours));
        if tasks.is_empty() {
            return false;
        }
        random.shuffle(&mut tasks);
        if round == 0 {
            let tools = tasks.iter().filter(|task| matches!(task, Task::Peer(_))).count();
            let sentence =
                format!("measuring {tools} tools beside ours in {count} rounds; the first says how long all take");
            progress.set_length(tasks.len() as u64 * count);
            progress.announce(|| sentence);
        }
        let of_a_round = tasks.len() as u64;
        for pair in pairs.iter_mut() {
            pair.figures.push(None);
            pair.counted.push(None);
        }
        for ours in ours.iter_mut() {
            ours.figures.push(None);
            ours.disturbed.push(false);
        }
        for task in tasks {
            let name = match task {
                Task::Peer(index) => &pairs[index].peer.id,
                Task::Ours(index) => &ours[index].label,
            };
            progress
                .say(|| format!("round {} of {count} · {name}{}", round + 1, left(began, done, of_a_round * count)));
            let stop = match task {
                Task::Peer(index) => theirs(&mut pairs[index], session),
                Task::Ours(index) => match own(&mut ours[index], session, random) {
                    None => true,
                    Some(latencies) => {
                        for pair in pairs.iter_mut().filter(|pair| pair.ours == index) {
                            if let (Some(latencies), Some(latency)) = (&latencies, pair.peer.latency) {
                                let of = |skipped| latencies.percentile(latency.share, skipped);
                                pair.counted.pop();
                                pair.counted.push(Some((of(Some(latency.skips_after_us * 1e3)), of(None))));
                            }
                        }
                        false
                    }
                },
            };
            if stop {
                return true;
            }
            done += 1;
            progress.step();
        }
    }
    false
}

/// Time to the end, by what a start took until now.
fn left(began: Instant, done: u32, all: u64) -> String {
    let missing = u32::try_from(all.saturating_sub(u64::from(done))).unwrap_or(u32::MAX);
    let each = began.elapsed().checked_div(done);
    each.map_or(String::new(), |each| format!(" · about {} left", roughly(each.saturating_mul(missing))))
}

/// Starts a tool once. What fails once is not started again: its rows would lack a round.
fn theirs(pair: &mut Pair, session: &Session) -> bool {
    let (cpu, words) = (session.cpus.measured(), arguments(&pair.peer, &session.cpus));
    let Some(program) = &pair.program else { return false };
    let control = session.control();
    let Peer { hogs, timeout, .. } = pair.peer;
    match run_peer(program, &words, &[cpu], hogs, timeout, control.interrupt) {
        PeerOutcome::Interrupted => return true,
        PeerOutcome::Failed(reason) => pair.failure = Some(format!("{} gives no figure: {reason}", pair.peer.program)),
        PeerOutcome::Printed(printed) => match pair.peer.figure(&printed) {
            Ok(figure) => {
                if let Some(last) = pair.figures.last_mut() {
                    *last = Some(figure);
                }
            }
            Err(reason) => pair.failure = Some(format!("{} gives no figure: {reason}", pair.peer.program)),
        },
    }
    false
}

/// One invocation of ours, with its evidence, and its latencies where it has such; None: the user
/// stopped it.
fn own(ours: &mut Ours, session: &Session, random: &mut fastrand::Rng) -> Option<Option<Latencies>> {
    ours.request.seed = u64::from(random.u32(..));
    let run = execute(
        &ours.request,
        &session.catalogue,
        &session.probes,
        ours.selection.clone(),
        &session.control(),
        &mut Silent,
    );
    if run.ended_by == EndedBy::Interrupt {
        return None;
    }
    let analysis = Analysis::new(&run, &session.catalogue);
    let Some(row) = analysis.rows.first() else { return Some(None) };
    if let Some(disturbed) = ours.disturbed.last_mut() {
        *disturbed = row.conditions().iter().any(|limit| limit.moves());
    }
    let (figures, last) = (&row.summary.figures, ours.figures.last_mut());
    match (figures, last) {
        (Some(figures), Some(last)) if figures.median > 0.0 && sound(row.verdict) => *last = Some(figures.median),
        // Beside a load a start may fail to keep up, and the next may not.
        _ if row.variant.experiment.paced => return Some(None),
        _ => ours.failure = Some(format!("{} is {}: {}", ours.label, row.verdict, row.why())),
    }
    // A start that is traced comes first.
    Some(row.starts.last().and_then(|start| Latencies::of(&start.transcript)))
}

fn sound(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Verified | Verdict::Unobservable)
}

fn arguments(peer: &Peer, cpus: &Cpus) -> Vec<String> {
    let cpu = cpus.measured();
    let other = cpus.housekeeping().unwrap_or(cpu);
    let filled = |word: &String| word.replace("{cpu}", &cpu.to_string()).replace("{other}", &other.to_string());
    peer.arguments.iter().map(filled).collect()
}

fn row(pair: &Pair, ours: &Ours, cpus: &Cpus) -> CrosscheckRow {
    let peer = &pair.peer;
    let by_its_rule: Vec<Option<f64>> = match peer.latency {
        Some(_) => pair.counted.iter().map(|counted| counted.map(|(own, _)| own)).collect(),
        None => ours.figures.clone(),
    };
    let both: Vec<(f64, f64)> =
        pair.figures.iter().zip(&by_its_rule).filter_map(|(theirs, ours)| Some(((*theirs)?, (*ours)?))).collect();
    let hold_both = pair.figures.iter().zip(&by_its_rule).map(|(theirs, ours)| theirs.is_some() && ours.is_some());
    let disturbed = hold_both.zip(&ours.disturbed).filter(|(both, disturbed)| *both && **disturbed).count();
    let whole: Vec<f64> = pair.counted.iter().flatten().map(|(_, whole)| *whole).collect();
    let converted: Vec<(f64, f64)> = both.iter().map(|(theirs, ours)| (peer.ns_per_switch(*theirs), *ours)).collect();
    let failure = pair.failure.clone().or_else(|| ours.failure.clone());
    let measured = beside(&converted).zip(beside(&both)).filter(|_| failure.is_none());
    CrosscheckRow {
        id: peer.id.clone(),
        title: peer.title.clone(),
        command: [vec![peer.program.clone()], arguments(peer, cpus)].concat().join(" "),
        unit: peer.unit.clone(),
        conversion: conversion(peer),
        ours: ours.label.clone(),
        missing: failure.or_else(|| measured.is_none().then(|| "no round holds both figures".to_owned())),
        measured: measured.map(|(found, printed)| CrosscheckFigures {
            printed: printed.first,
            theirs_ns: found.first,
            ours_ns: found.second,
            ratio: found.ratio,
            interval: found.interval,
            rounds: found.rounds,
            disturbed,
            whole_ns: switchcost_stats::median(&whole),
        }),
        reason: peer.reason.clone(),
    }
}

/// How its unit becomes ns per switch.
fn conversion(peer: &Peer) -> String {
    let figure = if peer.rate { format!("{} ns ÷ figure", peer.ns) } else { format!("figure × {} ns", peer.ns) };
    format!("{figure} ÷ {} switches", peer.switches)
}

/// Nothing is shown between invocations and nothing is stored: single invocations make no run.
struct Silent;

impl Observer for Silent {
    fn begun(&mut self, _: &Run) {}
    fn starting(&mut self, _: &Run, _: usize, _: u64) {}
    fn finished(&mut self, _: &Run, _: &Invocation) {}
    fn ended(&mut self, _: &Run) {}
}
