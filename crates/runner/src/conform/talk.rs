//! One start of a probe that is checked: through the code that measures, with every line kept.

use super::orders::{Sent, deadline_ms};
use crate::experiments::acts;
use crate::invoke::{Orders, Outcome, Reading, obey, read_until_end, start_at};
use std::cell::Cell;
use std::time::{Duration, Instant};
use switchcost_catalogue::PlanAnswer;
use switchcost_machine::interrupt::Interrupt;
use switchcost_machine::spawn::{Child, Exit, ExitStatus};
use switchcost_model::{Described, Plan, ProbeInfo, ProcessEnd, Seen, Transcript};
use switchcost_protocol::{DescribeReader, RunReader};

/// What came of a start.
#[derive(Default)]
pub(super) struct Answer {
    /// Its messages, as they came.
    pub lines: Vec<String>,
    /// The same, read.
    pub transcript: Transcript,
    /// The same of `describe`, where it was carried out.
    pub described: Option<Vec<Described>>,
    pub process: ProcessEnd,
    pub exit: Option<Exit>,
    /// What the host saw by itself.
    pub seen: Option<Seen>,
    pub log: String,
    /// From before the start until the first measured line was here.
    pub first_samples: Option<Duration>,
    /// Processes that outlived it.
    pub left_behind: Option<usize>,
    pub interrupted: bool,
}

/// Cuts the report into lines, and looks at the clock when measurements begin to arrive.
struct Listener {
    began: Instant,
    bytes: Vec<u8>,
    looked_at: usize,
    first_samples: Option<Duration>,
}

impl Listener {
    fn new() -> Self {
        Self { began: Instant::now(), bytes: Vec::new(), looked_at: 0, first_samples: None }
    }

    fn hear(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let whole = self.bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if self.first_samples.is_none() && whole > self.looked_at {
            let fresh = String::from_utf8_lossy(&self.bytes[self.looked_at..whole]);
            if fresh.lines().any(is_measurement) {
                self.first_samples = Some(self.began.elapsed());
            }
            self.looked_at = whole;
        }
    }

    fn lines(&self) -> Vec<String> {
        String::from_utf8_lossy(&self.bytes).lines().map(str::to_owned).collect()
    }
}

/// A message with samples, wherever in it `t` stands.
pub(super) fn is_measurement(line: &str) -> bool {
    ["samples", "histogram"].iter().any(|kind| switchcost_protocol::kind(line).as_deref() == Some(kind))
}

pub(super) fn start(info: &ProbeInfo, sent: &Sent, cpus: &[u32], interrupt: Option<&Interrupt>) -> Answer {
    if sent.words[0] == "describe" || sent.at != PlanAnswer::Report {
        return listen(info, sent, cpus, interrupt);
    }
    let mut listener = Listener::new();
    let mut hear = |bytes: &[u8]| listener.hear(bytes);
    let arguments = |_| sent.words.clone();
    // A probe is checked for what it sends itself.
    let part = |plan: &&Plan| plan.variant.experiment.host.is_some_and(|part| part.samples.is_empty());
    let plan = sent.expected.as_ref().filter(part);
    let around = plan.and_then(|plan| (acts(plan.variant.experiment).around)(plan, cpus, false));
    let deadline_ms = deadline_ms(info.start_timeout_ms);
    let contexts = sent.expected.as_ref().map_or(1, |plan| plan.variant.contexts);
    let orders = Orders { arguments: &arguments, deadline_ms, contexts, listener: Some(&mut hear), around };
    let Outcome { transcript, process, log, exit, seen, interrupted, left_behind, .. } =
        obey(info, orders, cpus, 0, interrupt);
    let (lines, first_samples) = (listener.lines(), listener.first_samples);
    Answer { lines, transcript, described: None, process, exit, seen, log, first_samples, left_behind, interrupted }
}

/// For what a run never asks: an answer elsewhere, and a list.
fn listen(info: &ProbeInfo, sent: &Sent, cpus: &[u32], interrupt: Option<&Interrupt>) -> Answer {
    let mut listener = Listener::new();
    let mut answer = Answer { left_behind: Some(0), ..Answer::default() };
    let mut child = match start_at(info, sent.words.clone(), Some(cpus), 0, sent.report_fd(), None) {
        Ok(child) => child,
        Err(silent) => return Answer { log: silent.to_string(), ..answer },
    };
    let deadline = Instant::now() + Duration::from_millis(deadline_ms(info.start_timeout_ms));
    let mut push = |_: &Child, bytes: &[u8]| {
        listener.hear(bytes);
        Ok(listener.bytes.ends_with(b"\n") && listener.lines().last().is_some_and(|line| is_end(line)))
    };
    let (reading, log) = read_until_end(&mut child, deadline, &Cell::default(), interrupt, &mut push);
    let left = matches!(reading, Reading::Ended | Reading::Closed)
        && child.wait_until(Instant::now() + Duration::from_millis(switchcost_analysis::leave_ms(1)));
    answer.left_behind = if left { child.left_behind() } else { Some(0) };
    let exit = child.finish();
    answer.process = match exit.status {
        _ if !left => ProcessEnd::Deadline,
        ExitStatus::Exited(status) => ProcessEnd::Exited(status),
        ExitStatus::Signalled(signal) => ProcessEnd::Signalled(signal),
        ExitStatus::Unknown => ProcessEnd::Unknown,
    };
    answer.interrupted = reading == Reading::Interrupted;
    answer.exit = Some(exit);
    let output = if sent.at == PlanAnswer::Stdout && switchcost_machine::spawn::REPORT_FD != 1 {
        log.into_bytes()
    } else {
        answer.log = log;
        listener.bytes
    };
    answer.lines = String::from_utf8_lossy(&output).lines().map(str::to_owned).collect();
    read(&mut answer, &output, sent.words[0] == "describe");
    answer
}

fn is_end(line: &str) -> bool {
    switchcost_protocol::kind(line).as_deref() == Some("end")
}

/// A refusal reads as one in either reader's form; a list is a list only if it is complete.
fn read(answer: &mut Answer, output: &[u8], describe: bool) {
    let mut list = DescribeReader::default();
    if output.is_empty() {
        return;
    }
    if describe && list.push(output).is_ok() {
        match list.finish() {
            Ok((hello, described)) => {
                answer.transcript.hello = Some(hello);
                answer.transcript.end = Some(switchcost_model::End {
                    status: switchcost_model::EndStatus::Ok,
                    code: None,
                    detail: None,
                    errno: None,
                    samples: 0,
                });
                answer.described = Some(described);
            }
            Err(what) => answer.transcript.fault = Some(what),
        }
        return;
    }
    let mut run = RunReader::default();
    let _ = run.push(output); // Its fault is part of the transcript.
    answer.transcript = run.into_transcript();
}
