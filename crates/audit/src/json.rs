//! What a program's switches cost it, as JSON.

use crate::cost::{Estimate, ThreadCost};
use crate::text::{Audited, Shares, delay_us, used};
use serde::Serialize;
use switchcost_report::text::json_line;

#[derive(Serialize)]
struct AuditJson<'a> {
    format: u32,
    program: &'a str,
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processes: Option<usize>,
    seconds: f64,
    ended: bool,
    voluntary: u64,
    involuntary: u64,
    unseen: u64,
    prices_do_not_fit: bool,
    cost_ns: Shares,
    share_of_a_cpu: Shares,
    program_cpu_ns: Option<f64>,
    share_of_program: Option<Shares>,
    sentence: String,
    kinds: Vec<KindJson>,
    threads: Vec<ThreadJson<'a>>,
    wake_interrupts: Option<u64>,
    indirect_ns: Option<(f64, f64)>,
    indirect_share_of_a_cpu: Option<(f64, f64)>,
    prices: Vec<PriceJson<'a>>,
    not_covered: Vec<String>,
    notes: &'a [String],
    command_status: &'a Option<String>,
    command_exit: Option<i32>,
    samples: u32,
    own_cpu_ns: u64,
}

#[derive(Serialize)]
struct KindJson {
    kind: &'static str,
    switches: f64,
    cost_ns: f64,
    delay_each_us: Option<f64>,
}

#[derive(Serialize)]
struct ThreadJson<'a> {
    process: u32,
    thread: u32,
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    program: &'a str,
    voluntary: u64,
    involuntary: u64,
    cpu_ns: Option<u64>,
    cost_ns: f64,
    cpus: Vec<u32>,
    waits_in: Vec<&'a str>,
    waits_in_is_inferred: bool,
    ended: bool,
}

#[derive(Serialize)]
struct PriceJson<'a> {
    kind: &'static str,
    measured_as: String,
    cpu_ns: Shares,
    delay_ns: Option<f64>,
    disturbed: bool,
    run: &'a str,
    age_s: u64,
    why: &'a str,
}

/// For scripts.
#[must_use]
pub fn audit_json(audited: &Audited) -> String {
    let (seen, audit) = (&audited.observed, &audited.audit);
    let plain = |estimate: Estimate| Shares { value: estimate.value, low: estimate.low, high: estimate.high };
    let mut not_covered = audited.not_covered();
    not_covered.extend(seen.blind.iter().cloned());
    let json = AuditJson {
        format: 1,
        program: &seen.program,
        pid: audited.service.is_none().then_some(seen.process),
        service: audited.service.as_deref(),
        processes: seen.processes,
        seconds: seen.wall.as_secs_f64(),
        ended: seen.ended,
        voluntary: audit.voluntary,
        involuntary: audit.involuntary,
        unseen: audit.unseen,
        prices_do_not_fit: audit.misfit,
        cost_ns: plain(audit.cost),
        share_of_a_cpu: audited.share(audit.cost),
        program_cpu_ns: audit.cpu_ns,
        share_of_program: audited.of_program(audit.cost),
        sentence: audited.sentence(),
        kinds: audit
            .kinds
            .iter()
            .map(|kind| KindJson {
                kind: kind.kind.as_str(),
                switches: kind.count,
                cost_ns: kind.cost.value,
                delay_each_us: delay_us(kind),
            })
            .collect(),
        threads: audit.threads.iter().map(thread_json).collect(),
        wake_interrupts: seen.wake_interrupts,
        indirect_ns: audited.indirect,
        indirect_share_of_a_cpu: audited.indirect_share(),
        prices: used(audited)
            .into_iter()
            .map(|price| PriceJson {
                kind: price.rule.kind.as_str(),
                measured_as: price.rule.wanted.to_string(),
                cpu_ns: plain(price.at(audit.pace)),
                delay_ns: price.delay_ns,
                disturbed: price.disturbed,
                run: &price.run,
                age_s: audited.age(price).as_secs(),
                why: &price.rule.why,
            })
            .collect(),
        not_covered,
        notes: &audited.notes,
        command_status: &audited.command_status,
        command_exit: audited.command_exit,
        samples: seen.samples,
        own_cpu_ns: seen.own_cpu_ns,
    };
    // One line, so that the pictures of --watch are JSON Lines.
    json_line(&json)
}

fn thread_json(thread: &ThreadCost) -> ThreadJson<'_> {
    ThreadJson {
        process: thread.seen.process,
        thread: thread.seen.thread,
        name: &thread.seen.name,
        program: &thread.seen.program,
        voluntary: thread.seen.voluntary,
        involuntary: thread.seen.involuntary,
        cpu_ns: thread.seen.cpu_ns,
        cost_ns: thread.cost.value,
        cpus: thread.seen.cpus.keys().copied().collect(),
        waits_in: thread.seen.channels.keys().map(String::as_str).collect(),
        waits_in_is_inferred: thread.supposed,
        ended: thread.seen.ended,
    }
}
