//! Measuring: what the commands that measure share.

use crate::arguments::Measuring;
use crate::defaults;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::paths::{self, Installation};
use crate::progress::Live;
use crate::random;
use crate::stored::opened;
use std::path::Path;
use std::time::{Duration, Instant};
use switchcost_analysis::Analysis;
use switchcost_catalogue::Catalogue;
use switchcost_machine::Locks;
use switchcost_machine::cpus::{Claim, Cpus};
use switchcost_machine::interrupt::Interrupt;
use switchcost_machine::watch::Watch;
use switchcost_model::{
    EndedBy, Hello, MHZ_MEASURED, MHZ_STORED, Machine, ProbeInfo, Request, Run, Severity, Variant, Verdict, finding,
    hardware_key,
};
use switchcost_runner::{Control, KnownProbe, METHOD_VERSION, NoAnswer, Selection};
use switchcost_store::{RunHeader, Store, StoreError};

/// Time between two looks at a CPU that another host has.
const ASKED_AGAIN: Duration = Duration::from_millis(100);

/// Of a budget, what probes are not waited for when they are asked what they can do; at most a
/// quarter.
const UNASKED: Duration = Duration::from_millis(400);

/// What is said when the user stops a run.
pub const CONTINUES: &str = "the same command with --resume continues";

/// The finding that another host measured on the CPU.
pub const ANOTHER_HOST: &str = "company";

/// All that measuring needs, looked up before anything is measured.
pub struct Session {
    /// Mechanisms and families.
    pub catalogue: Catalogue,
    /// Probes that answered.
    pub probes: Vec<KnownProbe>,
    /// CPUs that may be used.
    pub cpus: Cpus,
    /// Fingerprint and what doctor found.
    pub machine: Machine,
    interrupt: Interrupt,
    started: Instant,
    how: Measuring,
    /// Start of the run before, if this command has several.
    since: Option<i64>,
    _claim: Option<Claim>,
}

impl Session {
    /// Finds the probes of these mechanisms, data and CPUs; from here on Ctrl-C ends the measuring,
    /// not the process. No probe is waited for beyond the budget, if that is given. The time until
    /// no other switchcost measures on the CPU, if that is waited for, is not part of the budget.
    pub fn of_mechanisms(patterns: Vec<String>, started: Instant, how: &Measuring) -> Result<Self, Failure> {
        let request = Request { patterns, ..Request::default() };
        let probes = |installation: &Installation, catalogue: &Catalogue, _: &Cpus| {
            Ok(switchcost_runner::needed(&request, catalogue, installation.probes(catalogue)))
        };
        Self::by(probes, Some(&request), started, None, how)
    }

    /// The same with only those probes that may carry out the request, which has the budget. What
    /// nothing can meet is refused before that.
    pub fn answering(request: &Request, started: Instant, how: &Measuring) -> Result<Self, Failure> {
        let probes = |installation: &Installation, catalogue: &Catalogue, cpus: &Cpus| {
            let known = installation.probes(catalogue);
            if !known.is_empty() {
                switchcost_runner::check(request, catalogue, &known, cpus).map_err(|error| {
                    Failure::usage(installation.without_page(&error, &known).unwrap_or_else(|| error.to_string()))
                })?;
            }
            Ok(switchcost_runner::needed(request, catalogue, known))
        };
        Self::by(probes, Some(request), started, Some(request.budget), how)
    }

    /// The same with probes of the caller's choice, who may refuse before anything is waited for.
    /// Of a request only those are asked that it takes.
    pub fn by(
        probes: impl FnOnce(&Installation, &Catalogue, &Cpus) -> Result<Vec<ProbeInfo>, Failure>,
        request: Option<&Request>,
        started: Instant,
        budget: Option<Duration>,
        how: &Measuring,
    ) -> Result<Self, Failure> {
        let cpus = Cpus::detect().map_err(Failure::usage)?;
        let since = Watch::allowed();
        let installation = Installation::find()?;
        let catalogue = installation.catalogue()?;
        let probes = probes(&installation, &catalogue, &cpus)?;
        if probes.is_empty() && installation.probes(&catalogue).is_empty() {
            return Err(Failure::usage(installation.why_no_probes()));
        }
        let (claim, waited) = claim(cpus.measured(), how.wait, started);
        // Whoever was waited for does not count.
        let (since, started) = (if waited == started { since } else { Watch::allowed() }, waited);
        let machine = || {
            let machine = switchcost_machine::fingerprint();
            Machine { findings: switchcost_machine::doctor(since, &machine, None), ..machine }
        };
        // What has not answered by then could not be measured either; the rest is for ending it,
        // which takes its time on a busy machine.
        let until = budget.map(|budget| started + budget - UNASKED.min(budget / 4));
        let session = Self::with(cpus, claim, machine, started, until, catalogue, (probes, request))?;
        let session = Self { how: how.clone(), ..session };
        let silent = || session.probes.iter().map_while(|probe| probe.answer.as_ref().err());
        if silent().count() == session.probes.len() && silent().any(NoAnswer::is_late) {
            return Err(Failure::nothing(
                "the budget is too short to ask the probes what they measure; allow 5 s or more with --budget",
            ));
        }
        Ok(session)
    }

    /// The same on a machine that is known already, with these of the installed probes; another
    /// host on the CPU is not waited for, and a finding says so.
    pub fn of(
        machine: Machine,
        started: Instant,
        until: Instant,
        needed: impl Fn(&ProbeInfo) -> bool,
    ) -> Result<Self, Failure> {
        let cpus = Cpus::detect().map_err(Failure::usage)?;
        let claim = Claim::of(cpus.measured());
        let installation = Installation::find()?;
        let catalogue = installation.catalogue()?;
        let probes = installation.probes(&catalogue);
        if probes.is_empty() {
            return Err(Failure::usage(installation.why_no_probes()));
        }
        let probes = probes.into_iter().filter(needed).collect();
        Self::with(cpus, claim, || machine, started, Some(until), catalogue, (probes, None))
    }

    fn with(
        cpus: Cpus,
        claim: Option<Claim>,
        machine: impl FnOnce() -> Machine,
        started: Instant,
        until: Option<Instant>,
        catalogue: Catalogue,
        (probes, request): (Vec<ProbeInfo>, Option<&Request>),
    ) -> Result<Self, Failure> {
        switchcost_machine::can_observe().map_err(|error| Failure::refused("nothing can be measured", error))?;
        let interrupt =
            Interrupt::on_request().map_err(|error| Failure::refused("signals cannot be waited for", error))?;
        let mut machine = machine();
        if claim.is_none() {
            machine.findings.push(finding!(Severity::Note, company.measured, cpu = cpus.measured()));
        }
        let probes = match request {
            Some(request) => switchcost_runner::discover_for(request, &catalogue, probes, until, Some(&interrupt)),
            None => switchcost_runner::discover(probes, None, until, Some(&interrupt)),
        };
        let probes = probes.ok_or_else(|| Failure::partial("stopped before anything was measured".to_owned()))?;
        let how = Measuring::default();
        Ok(Self { catalogue, probes, cpus, machine, interrupt, started, how, since: None, _claim: claim })
    }

    /// What a request means here.
    pub fn select(&self, request: &Request) -> Result<Selection, Failure> {
        switchcost_runner::select(request, &self.catalogue, &self.probes).map_err(Failure::usage)
    }

    /// What a run needs from outside.
    pub fn control(&self) -> Control<'_> {
        Control {
            started: self.started,
            interrupt: Some(&self.interrupt),
            cpus: &self.cpus,
            machine: self.machine.clone(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            command: typed().collect(),
        }
    }

    /// The host keeps off the measured CPU. Where there is but one, its few wake-ups between
    /// invocations do no harm. Returns where it was before.
    pub fn step_aside(&self) -> Result<Option<Vec<u32>>, Failure> {
        let pin = |cpu| switchcost_machine::cpus::pin_self(&[cpu]);
        self.cpus.housekeeping().map(pin).transpose().map_err(Failure::usage)
    }

    /// Measures a selection and the controls that bound its rows, or goes on with its run that
    /// stopped; shows it as it goes and stores it. Beside the run: whether all of it was stored.
    pub fn measure(&self, request: &Request, mut selection: Selection, store: Store) -> Result<Measured, Failure> {
        selection.add_bounds(request, &self.catalogue, &self.probes).map_err(Failure::usage)?;
        if let (Some(experiment), 1..) = (request.experiment, selection.left_out) {
            let count = selection.left_out;
            output::say(&format!(
                "left out: {count} mechanisms have no experiment {experiment}; `switchcost list NAME` shows what one has"
            ));
        }
        let Some(run) = self.earlier(request, &selection, &store)? else {
            let begin = |store: &mut Store, run: &Run| store.begin_run(run);
            return self.carry_out(request, store, &begin, |control, live| {
                switchcost_runner::execute(request, &self.catalogue, &self.probes, selection, control, live)
            });
        };
        if !run.ended_by.resumable() {
            output::say(&format!("run {} is complete, nothing is left to measure", run.id));
            return Ok((run, Ok(())));
        }
        let begin = |store: &mut Store, run: &Run| store.reopen_run(&run.id, run.budget_ms);
        self.carry_out(request, store, &begin, |control, live| {
            switchcost_runner::resume(request, &self.catalogue, &self.probes, run, selection.sizes, control, live)
        })
    }

    /// The next run of this command has its whole budget before it; what of it is stored began
    /// after this one.
    pub fn begin_anew(&mut self, before: &Run) {
        (self.started, self.since) = (Instant::now(), Some(before.started_unix_ns));
    }

    /// The newest run of this command with the same request and rows, if runs are to be continued;
    /// whatever its budget, and its seed only if that was given.
    fn earlier(&self, request: &Request, selection: &Selection, store: &Store) -> Result<Option<Run>, Failure> {
        // Another probe may be the better one now: a run keeps its own.
        let row = |variant: &Variant| Variant { probe: String::new(), ..variant.clone() };
        let rows = |variants: &[Variant]| -> Vec<Variant> { variants.iter().map(row).collect() };
        let planned = rows(&selection.variants);
        if !self.how.resume {
            return Ok(None);
        }
        let after = |header: &RunHeader| self.since.is_none_or(|since| header.started_unix_ns > since);
        let own = |header: &&RunHeader| !header.imported && is_own(&header.command) && after(header);
        for header in store.list().map_err(Failure::usage)?.iter().filter(own) {
            let known = StoreError::unless_later(store.load_if(&header.id, &|_| false)).map_err(Failure::usage)?;
            let Some(Run { request: plan, variants, .. }) = known else { continue };
            let same = Request { seed: plan.seed, budget: plan.budget, ..request.clone() } == plan;
            if same && rows(&variants) == planned && self.how.seed.is_none_or(|seed| seed == plan.seed) {
                let run = store.load(&header.id).map_err(Failure::usage)?;
                let refused = |reason| Failure::usage(format!("--resume: run {}: {reason}", run.id));
                return self.continues(&run).map_err(refused).map(|()| Some(run));
            }
        }
        let why = "--resume: no stored run of this command has this plan; leave --resume out, or repeat the command that stopped (`switchcost history`)";
        // Of several runs those after the stopped one were never begun.
        self.since.map(|_| None).ok_or_else(|| Failure::usage(why))
    }

    fn carry_out(
        &self,
        request: &Request,
        store: Store,
        begin: &dyn Fn(&mut Store, &Run) -> Result<(), StoreError>,
        execute: impl FnOnce(&Control<'_>, &mut Live<'_>) -> Run,
    ) -> Result<Measured, Failure> {
        let mut control = self.control();
        // A fact that cannot be read is not there: the run says nothing of it.
        let stored = store.highest(MHZ_MEASURED, &hardware_key(&control.machine.stable)).ok().flatten();
        control.machine.drifting.extend(stored.map(|mhz| (MHZ_STORED.to_owned(), format!("{mhz:.0}"))));
        let before = self.step_aside()?;
        let mut live = Live::new(store, begin, &self.catalogue, request, self.started);
        let run = execute(&control, &mut live);
        let stored = live.finish();
        // What is started later (a command to audit) is not to inherit the host's place.
        if let Some(before) = before {
            switchcost_machine::cpus::pin_self(&before).map_err(Failure::internal)?;
        }
        Ok((run, stored))
    }

    /// What is measured now is of a kind with what the run has: method, machine, and each of its
    /// probes.
    fn continues(&self, run: &Run) -> Result<(), String> {
        let (then, now) = (run.method_version, METHOD_VERSION);
        if then != now {
            return Err(format!("it was measured by method version {then} and this is version {now}; begin a new one"));
        }
        if self.machine.key() != run.machine.key() {
            return Err("it was measured on another machine, or this one has changed since; begin a new one".to_owned());
        }
        for (index, (variant, starts)) in run.variants.iter().zip(run.starts()).enumerate() {
            if run.not_run.contains_key(&index) {
                continue;
            }
            let here = self.probes.iter().find(|probe| probe.info.id == variant.probe);
            let Some((now, _)) = here.and_then(|probe| probe.answer.as_ref().ok()) else {
                return Err(format!(
                    "its probe {} is not here any more; install it, or begin a new run",
                    variant.probe
                ));
            };
            let then = starts.iter().filter_map(|start| start.transcript.hello.as_ref()).next_back();
            if then.is_some_and(|then| build(then) != build(now)) {
                return Err(format!("its probe {} was built anew since; begin a new run", variant.probe));
            }
        }
        Ok(())
    }
}

/// What a probe was built from. Flags are those of a compiler: a virtual machine that compiles
/// nothing ahead is given others for each plan.
fn build(hello: &Hello) -> (&str, &str, Option<&str>, Option<&str>) {
    let compiler = hello.compiler.as_deref();
    (&hello.version, &hello.runtime, compiler, compiler.and(hello.flags.as_deref()))
}

/// The CPU for this host alone, and when its time began; None where another host measures there and
/// nobody waits.
fn claim(cpu: u32, wait: bool, started: Instant) -> (Option<Claim>, Instant) {
    let claimed = Claim::of(cpu);
    if claimed.is_some() {
        return (claimed, started);
    }
    let what = format!("another switchcost measures on CPU {cpu}");
    if !wait {
        output::say(&format!("{what}, and each disturbs the other; --wait waits until it is done"));
        return (None, started);
    }
    output::say(&format!("{what}; waiting until it is done"));
    loop {
        std::thread::sleep(ASKED_AGAIN);
        let claimed = Claim::of(cpu);
        if claimed.is_some() {
            return (claimed, Instant::now());
        }
    }
}

/// A run, and whether all of it was stored.
pub type Measured = (Run, Result<(), StoreError>);

/// The seed that was given, or a random one; short, so that it can be typed again.
pub fn seed(given: Option<u64>) -> u64 {
    given.unwrap_or_else(|| random::number() >> 32)
}

/// The command as typed, with the user's defaults.
fn typed() -> impl Iterator<Item = String> {
    defaults::recorded(std::env::args_os().map(|word| word.to_string_lossy().into_owned())).into_iter()
}

/// It is a command of the same name as this one.
pub(crate) fn is_own(command: &[String]) -> bool {
    command.get(1) == typed().nth(1).as_ref()
}

/// The store, opened before anything is measured: what cannot be kept need not be waited for.
pub fn open_store(given: Option<&Path>) -> Result<Store, Failure> {
    let path = paths::store(given)?;
    let shown = path.display();
    match switchcost_machine::locks(&path) {
        Locks::Kept => {}
        Locks::Lost(name) => {
            return Err(Failure::usage(format!(
                "{shown} is on a file system of another machine ({name}), where its locks and its journal may be lost; name a store on a local disk by --store or XDG_DATA_HOME"
            )));
        }
        Locks::Unknown(name) => output::say(&format!(
            "{shown} is on a file system ({name}) of which nobody knows whether it keeps the locks of a store; let no two commands write there at once"
        )),
    }
    opened(&path).map_err(|error| {
        let file = defaults::in_force().filter(|defaults| defaults.store() == Some(&path));
        let file = file.and_then(|defaults| defaults.file.as_ref());
        Failure::usage(file.map_or(error.to_string(), |file| format!("{error}; {} names it", file.display())))
    })
}

/// What is said when a result was shown and could not be kept.
pub fn not_stored(reason: &StoreError) -> Failure {
    Failure { sentence: format!("{reason} (the result above was not stored whole)"), exit: Exit::Partial }
}

/// The worst that happened decides.
pub fn status(analysis: &Analysis<'_>) -> Exit {
    let (rows, asked) = (&analysis.rows, analysis.asked());
    let any = |verdict| rows.iter().any(|row| row.verdict == verdict);
    if any(Verdict::Contradicted) {
        Exit::Contradicted
    } else if !rows.iter().any(|row| asked(row) && row.summary.figures.is_some()) {
        let late = analysis.run.ended_by == EndedBy::Budget && any(Verdict::Unmeasured);
        if late { Exit::Partial } else { Exit::Nothing }
    } else if analysis.partial() || any(Verdict::Broken) || any(Verdict::Unmeasured) {
        Exit::Partial
    } else {
        Exit::Fine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Java's carriers are a flag of the virtual machine, and differ from what it was described
    /// with.
    #[test]
    fn flags_tell_builds_apart_where_something_compiles() {
        let hello = |compiler: Option<&str>, flags: &str| Hello {
            protocol: 1,
            probe: "p".into(),
            version: "1".into(),
            runtime: "r".into(),
            compiler: compiler.map(str::to_owned),
            flags: Some(flags.to_owned()),
            pid: 1,
            clock: switchcost_model::Clock { name: "c".into(), ticks_per_second: 1, read_cost_ticks: 0 },
            counter: None,
            chain_cycles: None,
        };
        assert_eq!(build(&hello(None, "-Xmn64m")), build(&hello(None, "-Xmn64m -Dparallelism=1")));
        assert_ne!(build(&hello(Some("gcc"), "-O2")), build(&hello(Some("gcc"), "-O3")));
    }
}
