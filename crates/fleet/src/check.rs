//! `check`: is this node fit?

mod arguments;

pub use arguments::{Check, status_of_refusal};

use crate::fitness::{Fitness, FitnessWord, Pass, ROUNDS, measured_rows};
use arguments::Contract;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use switchcost_analysis::{Analysis, label};
use switchcost_catalogue::Catalogue;
use switchcost_machine::watch::Watch;
use switchcost_model::{EndedBy, Invocation, Machine, ProbeInfo, Request, Run, Variant, Wanted};
use switchcost_runner::{Observer, Selection, execute, select_wanted};
use switchcost_session::{ANOTHER_HOST, Action, Exit, Failure, Installation, Session, output, paths, run_file, seed};
use switchcost_store::{BASELINE, Store};

/// The baseline that is taken unless another is named.
const USUAL: &str = "check";

/// Longest line, with its end: node-problem-detector cuts there.
const BYTES: usize = 80;

/// Share of the time after which the answer is given in any case; the rest is for a busy machine to
/// start and end this process.
const ANSWERED: f64 = 0.9;

/// Share of the time in which all rows are measured; what does not pass is measured again in what
/// is left.
const FIRST_PASS: f64 = 0.55;

/// Share of the time at which nothing is measured any more.
const MEASURED: f64 = 0.82;

/// What the thread that examines is doing; told where it is late.
#[derive(Clone)]
struct Step(Arc<Mutex<String>>);

impl Step {
    fn enter(&self, what: impl Into<String>) {
        if let Ok(mut step) = self.0.lock() {
            *step = what.into();
        }
    }

    fn now(&self) -> String {
        self.0.lock().map(|step| step.clone()).unwrap_or_default()
    }
}

impl Action for Check {
    /// Examines the node on a thread of its own, and answers in time also where that is late.
    fn carry_out(&self, started: Instant) -> Result<Exit, Failure> {
        let step = Step(Arc::new(Mutex::new("starting".to_owned())));
        let (sender, receiver) = channel();
        let (asked, entered) = (self.clone(), step.clone());
        let thread = std::thread::Builder::new().spawn(move || {
            let examined = Examination { arguments: &asked, started, step: &entered }.carry_out();
            // Nobody listens any more where this is late.
            let _ = sender
                .send(examined.unwrap_or_else(|failure| Fitness::unknown(output::without_numbers(&failure.sentence))));
        });
        let left = self.within.mul_f64(ANSWERED).saturating_sub(started.elapsed());
        let fitness = match thread.map(|_| receiver.recv_timeout(left)) {
            Ok(Ok(fitness)) => fitness,
            Ok(Err(RecvTimeoutError::Timeout)) => Fitness::unknown(format!(
                "late: {}, not done within {}",
                step.now(),
                humantime::format_duration(self.within)
            )),
            Ok(Err(RecvTimeoutError::Disconnected)) => {
                Fitness::unknown(format!("{} failed; this is a fault of switchcost", step.now()))
            }
            Err(error) => Fitness::unknown(format!("no thread can be started ({error})")),
        };
        let (words, status) = contract(self.contract, fitness.word());
        // To Nagios what follows a bar is data of performance.
        let line = fitness.line(words, BYTES - 1).replace('|', "/");
        let more = |reason: &&String| self.verbose && !line.contains(reason.as_str());
        fitness.reasons().iter().filter(more).for_each(|reason| output::say(reason));
        output::print(&format!("{line}\n"))?;
        Ok(Exit::Other(status))
    }
}

/// That `check` as it is called by default could measure no row of this run again.
pub fn doubts(run: &Analysis<'_>) -> Option<String> {
    let usual = <Check as clap::Parser>::try_parse_from(["check"]).ok()?;
    let none = measured_rows(run, usual.gate, usual.within.mul_f64(FIRST_PASS)).is_empty();
    let measured = run.shown().any(|row| row.median().is_some());
    let why = if measured { "is too noisy" } else { "has no figure" };
    none.then(|| format!("run {} {why} for `check`; measure it again on a quiet node", run.run.id))
}

/// Words before the reason, and the exit status.
fn contract(contract: Contract, word: FitnessWord) -> (&'static str, u8) {
    match (contract, word) {
        (Contract::Nagios, FitnessWord::Fit) => ("SWITCHCOST OK - ", 0),
        (Contract::Nagios, FitnessWord::NotFit) => ("SWITCHCOST CRITICAL - ", 2),
        (Contract::Nagios, FitnessWord::CannotTell) => ("SWITCHCOST UNKNOWN - ", 3),
        (_, FitnessWord::Fit) => ("fit: ", 0),
        (_, FitnessWord::NotFit) => ("not fit: ", 1),
        (Contract::Plain | Contract::Npd, FitnessWord::CannotTell) => ("inconclusive: ", 2),
        (Contract::Nhc | Contract::Slurm, FitnessWord::CannotTell) => ("inconclusive: ", 0),
    }
}

/// One look at the node.
struct Examination<'a> {
    arguments: &'a Check,
    started: Instant,
    step: &'a Step,
}

impl Examination<'_> {
    fn carry_out(&self) -> Result<Fitness, Failure> {
        self.step.enter("reading the baseline");
        let baseline = self.baseline()?;
        self.step.enter("reading the machine's facts");
        let since = Watch::allowed();
        let mut machine = switchcost_machine::fingerprint();
        let mut fitness = Fitness::default();
        if let Some(baseline) = &baseline {
            let version = env!("CARGO_PKG_VERSION");
            fitness.add_facts((&baseline.machine, &baseline.tool_version), (&machine, version));
        }
        self.step.enter("examining the machine");
        machine.findings = switchcost_machine::doctor(since, &machine, None);
        fitness.add_findings(&machine.findings);
        match baseline {
            None => fitness.add_unknown("no baseline; after a run: switchcost baseline set check"),
            Some(baseline) if fitness.is_open() => self.measure(&baseline, machine, &mut fitness)?,
            Some(_) => {}
        }
        Ok(fitness)
    }

    /// None: none was named, and there is none of the usual name.
    fn baseline(&self) -> Result<Option<Run>, Failure> {
        if let Some(file) = self
            .arguments
            .baseline
            .as_deref()
            .filter(|named| named.ends_with(".jsonl") || named.contains('/') || Path::new(named).is_file())
        {
            // The line is short, and its reader knows the folder.
            let name = Path::new(file).file_name().map_or(file.into(), std::ffi::OsStr::to_string_lossy);
            let named = |failure: Failure| Failure::usage(failure.sentence.replace(file, &name));
            let catalogue = Installation::find()?.catalogue()?;
            return run_file(Path::new(file), &catalogue).map(Some).map_err(named);
        }
        let path = paths::store(self.arguments.store.path())?;
        let name = self.arguments.baseline.as_deref();
        if name.is_none() && !path.exists() {
            return Ok(None);
        }
        let mut store = Store::open_read_only(&path).map_err(Failure::usage)?;
        store.set_patience(self.left(ANSWERED)).map_err(Failure::usage)?;
        let known = store.baselines().map_err(Failure::usage)?;
        let is_known = |name: &str| known.iter().any(|baseline| baseline.name == name);
        match name {
            None if !is_known(USUAL) => return Ok(None),
            Some(name) if !is_known(name) => {
                return Err(Failure::usage(format!("no baseline `{name}`; switchcost baseline set {name}")));
            }
            _ => {}
        }
        store.load(&format!("{BASELINE}{}", name.unwrap_or(USUAL))).map(Some).map_err(Failure::usage)
    }

    /// Time until this share of all of it is over.
    fn left(&self, share: f64) -> Duration {
        self.arguments.within.mul_f64(share).saturating_sub(self.started.elapsed())
    }

    fn measure(&self, baseline: &Run, machine: Machine, fitness: &mut Fitness) -> Result<(), Failure> {
        self.step.enter("judging the baseline");
        let installation = Installation::find()?;
        let catalogue = installation.catalogue()?;
        let known = Analysis::new(baseline, &catalogue);
        let mut rows = measured_rows(&known, self.arguments.gate, self.left(FIRST_PASS));
        if rows.is_empty() {
            let short = !measured_rows(&known, self.arguments.gate, Duration::MAX).is_empty();
            fitness.add_unknown(match short {
                true => "--within is too short for any row of the baseline; allow more",
                false => "baseline too noisy for --gate: allow more, or measure it again on a quiet node",
            });
            return Ok(());
        }
        self.step.enter("asking the probes");
        let ids: Vec<&str> =
            rows.iter().map(|row| switchcost_analysis::probe_without_version(&baseline.variants[*row].probe)).collect();
        let needed = |probe: &ProbeInfo| ids.contains(&switchcost_analysis::probe_without_version(&probe.id));
        if !installation.probes(&catalogue).iter().any(needed) {
            fitness.add_unknown(format!("the baseline's probe {} is not here", ids[0]));
            return Ok(());
        }
        let until = self.started + self.arguments.within.mul_f64(MEASURED);
        let session = Session::of(machine, self.started, until, needed)?;
        if let Some(company) = session.machine.findings.iter().find(|finding| finding.id == ANOTHER_HOST) {
            fitness.add_unknown(company.text().what);
            return Ok(());
        }
        // Only this thread steps aside: the one that answers in time may run anywhere.
        session.step_aside()?;
        let mut passes = Vec::new();
        for share in [FIRST_PASS, MEASURED] {
            let run = self.pass(baseline, &rows, &session, share)?;
            if run.ended_by == EndedBy::Interrupt {
                fitness.add_unknown("stopped while it measured");
                return Ok(());
            }
            // Somebody may have begun to watch meanwhile.
            fitness.add_findings(&run.machine.findings);
            if !fitness.is_open() {
                return Ok(());
            }
            self.step.enter("judging what was measured");
            let pass = Pass::new(&[known.clone(), Analysis::new(&run, &catalogue)], &rows, self.arguments.gate);
            rows.retain(|row| pass.is_open(&known.rows[*row].label));
            passes.push(pass);
            if rows.is_empty() {
                break;
            }
        }
        fitness.add_passes(&passes, self.arguments.gate);
        Ok(())
    }

    /// Measures these rows of the baseline in turns, until this share of the time is over.
    fn pass(&self, baseline: &Run, rows: &[usize], session: &Session, share: f64) -> Result<Run, Failure> {
        let budget = self.arguments.within.mul_f64(share);
        let request = Request { rounds: Some(ROUNDS), budget, seed: seed(None), ..Request::default() };
        let mut selection = Selection::default();
        for row in rows {
            let variant = &baseline.variants[*row];
            let probe = switchcost_analysis::probe_without_version(&variant.probe);
            let same =
                session.probes.iter().find(|here| switchcost_analysis::probe_without_version(&here.info.id) == probe);
            let probes = same.map(|here| here.info.id.clone()).into_iter().collect();
            let request = Request { probes, ..request.clone() };
            let found =
                select_wanted(&[wanted(variant, &session.catalogue)], &request, &session.catalogue, &session.probes);
            selection.merge(found.map_err(Failure::usage)?.0);
        }
        let mut observer = Steps { step: self.step, catalogue: &session.catalogue };
        Ok(execute(&request, &session.catalogue, &session.probes, selection, &session.control(), &mut observer))
    }
}

/// The variant as data files want one: a default that belongs to another experiment is not asked
/// for.
fn wanted(variant: &Variant, catalogue: &Catalogue) -> Wanted {
    let page = catalogue.find(&variant.mechanism);
    let default = |name: &String| page.and_then(|page| Some(page.parameters.get(name)?.default.as_str()));
    let mut parameters = variant.parameters.clone();
    parameters.retain(|name, value| default(name) != Some(value.as_str()));
    Wanted {
        mechanism: variant.mechanism.clone(),
        experiment: variant.experiment,
        contexts: Some(variant.contexts),
        placement: variant.placement,
        timing: variant.timing,
        parameters,
    }
}

/// Tells only what is being measured.
struct Steps<'a> {
    step: &'a Step,
    catalogue: &'a Catalogue,
}

impl Observer for Steps<'_> {
    fn begun(&mut self, _: &Run) {}

    fn starting(&mut self, run: &Run, variant: usize, _: u64) {
        self.step.enter(format!("measuring {}", label(&run.variants[variant], self.catalogue, false)));
    }

    fn finished(&mut self, _: &Run, _: &Invocation) {}

    fn ended(&mut self, _: &Run) {}
}
