//! One start of a probe: process, transcript, deadline.

use crate::experiments::{Around, acts};
use crate::no_answer::NoAnswer;
use std::cell::Cell;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use switchcost_analysis::leave_ms;
use switchcost_machine::interrupt::Interrupt;
use switchcost_machine::spawn::{self, Child, Exit, ExitStatus, Heard, SpawnRequest, Used};
use switchcost_model::{Plan, ProbeInfo, ProcessEnd, Seen, Silence, Transcript};
use switchcost_protocol::{RunReader, run_arguments};

/// Looks at the tasks of a start, until one sees them all as they are.
const LOOKS: usize = 4;

/// How much of a probe's output is kept: its last words matter, not its first. A list on standard
/// output fits, which `check-probe` asks for.
const LOG_BYTES: usize = 64 * 1024;

/// What is listened to after the end at most, in pieces: more than a pipe holds was printed later.
const LAST_WORDS: usize = 16;

/// Why reading stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    /// `end` arrived.
    Ended,
    /// The descriptor was closed by everybody, without `end`.
    Closed,
    /// Time was up.
    Deadline,
    /// A rule was broken.
    Fault(Silence),
    /// The user stopped the run.
    Interrupted,
}

/// What came of an invocation.
#[derive(Default)]
pub(crate) struct Outcome {
    pub transcript: Transcript,
    pub process: ProcessEnd,
    pub log: String,
    pub wall: Duration,
    pub exit: Option<Exit>,
    pub seen: Option<Seen>,
    pub interrupted: bool,
    /// Processes that were still there when it had left. Looked for only where somebody listens;
    /// None: the system does not tell.
    pub left_behind: Option<usize>,
}

/// Hears pieces of a report.
pub(crate) type Listener<'a> = &'a mut dyn FnMut(&[u8]);

/// Takes a piece of a report from a child; true: that was all.
pub(crate) type Push<'a> = dyn FnMut(&Child, &[u8]) -> Result<bool, Silence> + 'a;

/// What a probe is told, and how long it may take.
pub(crate) struct Orders<'a> {
    pub arguments: &'a dyn Fn(i32) -> Vec<String>,
    pub deadline_ms: u64,
    /// How many it has to take apart.
    pub contexts: u64,
    /// Hears each piece of the report before the reader does.
    pub listener: Option<Listener<'a>>,
    /// What the host does around it.
    pub around: Option<Box<dyn Around>>,
}

/// Starts a probe with a clean environment.
pub(crate) fn start(
    info: &ProbeInfo,
    arguments: impl Fn(i32) -> Vec<String>,
    cpus: Option<&[u32]>,
    padding: u64,
) -> Result<Child, NoAnswer> {
    start_at(info, arguments(spawn::REPORT_FD), cpus, padding, spawn::REPORT_FD, None)
}

/// The same, with a descriptor of one's own for the report, and with what the host does around it.
pub(crate) fn start_at(
    info: &ProbeInfo,
    arguments: Vec<String>,
    cpus: Option<&[u32]>,
    padding: u64,
    report_fd: i32,
    around: Option<&dyn Around>,
) -> Result<Child, NoAnswer> {
    let mut command = info.command.clone();
    let program = command.remove(0);
    let program = match program.strip_prefix("./") {
        Some(file) => info.folder.join(file),
        None => program.into(),
    };
    command.extend(arguments);
    // The size of the environment shifts the stack and with it alignment (Mytkowicz et al. 2009);
    // so it is varied, not left to chance.
    let mut environment = vec![("SWITCHCOST_PADDING".to_owned(), "x".repeat(padding as usize))];
    let names = info.environment.iter().map(String::as_str).chain(spawn::ENVIRONMENT.iter().copied());
    let value = |name: &str| match name {
        spawn::SCRATCH => spawn::scratch().to_str().map(str::to_owned),
        _ => switchcost_machine::environment(name),
    };
    environment.extend(names.filter_map(|name| Some((name.to_owned(), value(name)?))));
    let mut request = SpawnRequest {
        program,
        arguments: command,
        environment,
        cpus: cpus.map(<[u32]>::to_vec),
        directory: Some(info.folder.clone()),
        capabilities: info.capabilities,
        hogs: None,
        timer_slack_ns: None,
        report_fd,
    };
    if let Some(around) = around {
        around.change(&mut request)?;
    }
    Ok(Child::start(&request)?)
}

/// Carries out a plan. Always returns with no process of the probe left.
pub(crate) fn invoke(
    info: &ProbeInfo,
    plan: &Plan,
    cpus: &[u32],
    padding: u64,
    first: bool,
    interrupt: Option<&Interrupt>,
) -> Outcome {
    let arguments = |fd| run_arguments(plan, fd);
    let orders = Orders {
        arguments: &arguments,
        deadline_ms: plan.deadline_ms,
        contexts: plan.variant.contexts,
        listener: None,
        around: (acts(plan.variant.experiment).around)(plan, cpus, first),
    };
    obey(info, orders, cpus, padding, interrupt)
}

/// The same for arguments of whatever kind.
pub(crate) fn obey(
    info: &ProbeInfo,
    mut orders: Orders<'_>,
    cpus: &[u32],
    padding: u64,
    interrupt: Option<&Interrupt>,
) -> Outcome {
    let created = spawn::tasks_created();
    let began = Instant::now();
    let words = (orders.arguments)(spawn::REPORT_FD);
    let mut child = match start_at(info, words, Some(cpus), padding, spawn::REPORT_FD, orders.around.as_deref()) {
        Ok(child) => child,
        Err(reason) => {
            let (log, wall) = (reason.to_string(), began.elapsed());
            return Outcome { log, wall, left_behind: Some(0), ..Outcome::default() };
        }
    };
    let deadline = began + Duration::from_millis(orders.deadline_ms);
    let mut reader = RunReader::default();
    let alarm = Cell::new(None);
    let around = orders.around.take();
    let mut sights = Sights { began, seen: Seen::default(), around, alarm: &alarm };
    let mut push = |child: &Child, bytes: &[u8]| -> Result<bool, Silence> {
        if let Some(listener) = &mut orders.listener
            && !bytes.is_empty()
        {
            listener(bytes);
        }
        let before = reader.measurements();
        let read = reader.push(bytes);
        sights.note(child, &reader, before);
        read?;
        Ok(reader.ended())
    };
    let (reading, log) = read_until_end(&mut child, deadline, &alarm, interrupt, &mut push);
    let left = match reading {
        // By the deadline as well: a runtime that is slow to leave must not outlive the budget.
        Reading::Ended | Reading::Closed => {
            child.wait_until(deadline.min(Instant::now() + Duration::from_millis(leave_ms(orders.contexts))))
        }
        _ => false,
    };
    if !left && matches!(reading, Reading::Deadline | Reading::Ended | Reading::Closed) {
        sights.seen.waited_ns = child.scheduled().and_then(|reading| reading.waited_ns);
    }
    let left_behind = if left && orders.listener.is_some() { child.left_behind() } else { Some(0) };
    let pid = child.pid().unsigned_abs().into();
    let mut transcript = reader.into_transcript();
    if let Some(around) = sights.around.take() {
        sights.seen.part = around.seen(&mut transcript);
    }
    let exit = child.finish();
    // A count that nobody could read is not zero: without it nothing was seen.
    let seen = exit.used.map(|used| sights.seen(pid, used, exit.strays, created));
    let process = match (&reading, exit.status) {
        (Reading::Deadline, _) => ProcessEnd::Deadline,
        (Reading::Fault(_) | Reading::Interrupted, _) => ProcessEnd::Stopped,
        (Reading::Ended | Reading::Closed, _) if !left => ProcessEnd::Deadline,
        (_, ExitStatus::Exited(status)) => ProcessEnd::Exited(status),
        (_, ExitStatus::Signalled(signal)) => ProcessEnd::Signalled(signal),
        (_, ExitStatus::Unknown) => ProcessEnd::Unknown,
    };
    Outcome {
        transcript,
        process,
        log,
        wall: began.elapsed(),
        exit: Some(exit),
        seen,
        interrupted: reading == Reading::Interrupted,
        left_behind,
    }
}

/// What the host sees while it reads.
struct Sights<'a> {
    began: Instant,
    seen: Seen,
    around: Option<Box<dyn Around>>,
    alarm: &'a Cell<Option<Instant>>,
}

impl Sights<'_> {
    /// After each piece of the report; `before`: how many messages with measurements there were
    /// ahead of it.
    fn note(&mut self, child: &Child, reader: &RunReader, before: u64) {
        let now = self.began.elapsed().as_nanos() as u64;
        // One may come and go within a start.
        self.seen.tracer = self.seen.tracer.take().or_else(|| child.tracer());
        if reader.measurements() > before {
            self.seen.first_samples_ns.get_or_insert(now);
            self.seen.last_samples_ns = Some(now);
            self.around.iter_mut().for_each(|around| around.end(child));
        }
        // As it is now: with the measurements it may be over.
        if self.around.as_ref().and_then(|around| around.alarm()).is_some_and(|at| Instant::now() >= at) {
            self.around.iter_mut().for_each(|around| around.woken(child));
        }
        if self.seen.plan_ns.is_none() && reader.transcript().plan.is_some() {
            self.seen.plan_ns = Some(now);
            let reported_pid = reader.transcript().hello.as_ref().map_or(0, |hello| hello.pid);
            // With measurements its contexts may be gone already.
            if reader.measurements() == 0 {
                // Of a runtime a helper may end in the middle of a look.
                self.seen.tree = (0..LOOKS).find_map(|_| child.task_tree(reported_pid));
                self.around.iter_mut().for_each(|around| around.begin(child, self.began));
            }
        }
        self.alarm.set(self.around.as_ref().and_then(|around| around.alarm()));
    }

    fn seen(self, pid: u64, used: Used, strays: u32, created: Option<u64>) -> Seen {
        let forks = created.zip(spawn::tasks_created()).map(|(before, after)| after.saturating_sub(before));
        let Used { voluntary, involuntary, cpu_ns, page_faults, .. } = used;
        Seen { pid, voluntary, involuntary, cpu_ns, page_faults, forks, strays, ..self.seen }
    }
}

/// Feeds what the probe reports to `push` (true: over) and keeps the tail of what it prints. Sleeps
/// while there is nothing; never wakes by itself but at the deadline, and at the time that `alarm`
/// holds, when it feeds an empty piece.
pub(crate) fn read_until_end(
    child: &mut Child,
    deadline: Instant,
    alarm: &Cell<Option<Instant>>,
    interrupt: Option<&Interrupt>,
    push: &mut Push<'_>,
) -> (Reading, String) {
    let mut log = Tail::default();
    let reading = loop {
        let until = alarm.get().map_or(deadline, |alarm| alarm.min(deadline));
        match child.listen(until, interrupt) {
            Heard::Time if until < deadline => {
                if let Err(what) = push(child, &[]) {
                    break Reading::Fault(what);
                }
            }
            Heard::Time => break Reading::Deadline,
            Heard::Interrupted => break Reading::Interrupted,
            Heard::Closed => break Reading::Closed,
            Heard::Printed(bytes) => log.push(&bytes),
            Heard::Report(bytes) => match push(child, &bytes) {
                Ok(true) => break Reading::Ended,
                Ok(false) => {}
                Err(what) => break Reading::Fault(what),
            },
        }
    };
    // What was printed just before the end explains it.
    for _ in 0..LAST_WORDS {
        let Some(bytes) = child.printed() else { break };
        log.push(&bytes);
    }
    (reading, log.text())
}

/// The end of what was printed.
#[derive(Default)]
pub(crate) struct Tail(VecDeque<u8>);

impl Tail {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        let excess = self.0.len().saturating_sub(LOG_BYTES);
        self.0.drain(..excess);
    }

    pub(crate) fn text(mut self) -> String {
        String::from_utf8_lossy(self.0.make_contiguous()).into_owned()
    }
}
