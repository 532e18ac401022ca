//! What a program's switches cost it, as text and JSON.

use crate::text::{Style, cell, right, trimmed, wrapped};
use serde::Serialize;
use switchcost_analysis::number::{grouped, nanoseconds, percent};
use switchcost_analysis::{Audit, Estimate, Kind, Pace, Price, ThreadCost};
use switchcost_model::{Observed, SwitchKind};

/// Threads shown unless all are asked for.
const SHOWN: usize = 5;

/// Below this share of one CPU, at the upper end of the interval, switches do not matter.
const NO_MATTER: f64 = 0.01;

/// From this share of a program's CPU time on, they do.
const MATTER: f64 = 0.1;

/// All that one `audit` has to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
    /// What was seen.
    pub observed: Observed,
    /// What it costs.
    pub audit: Audit,
    /// What it was priced by.
    pub prices: Vec<Price>,
    /// What a switch costs afterwards, in caches, ns, least and most over the stored sweep; None: not known.
    pub indirect: Option<(f64, f64)>,
    /// The command that would measure that.
    pub indirect_command: String,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// How a command that was started ended; None: none was, or it still runs.
    pub command_status: Option<String>,
    /// Show every thread.
    pub all_threads: bool,
}

impl Audited {
    fn wall_ns(&self) -> f64 {
        self.observed.wall.as_nanos().max(1) as f64
    }

    fn per_second(&self, count: f64) -> f64 {
        count * 1e9 / self.wall_ns()
    }

    /// Of one CPU.
    fn share(&self, cost: Estimate) -> Shares {
        let wall = self.wall_ns();
        Shares { value: cost.value / wall, low: cost.low / wall, high: cost.high / wall }
    }

    fn of_program(&self, cost: f64) -> Option<f64> {
        self.audit.cpu_ns.filter(|cpu| *cpu > 0.0).map(|cpu| cost / cpu)
    }

    /// One sentence: does it matter?
    fn verdict(&self) -> String {
        let share = self.share(self.audit.cost);
        let of_program = self.of_program(self.audit.cost.value);
        if self.audit.switches() == 0 {
            return "No switch was seen: whatever this program waits for, it is not its switches.".into();
        }
        if share.high < NO_MATTER && of_program.is_none_or(|share| share < MATTER) {
            return format!("It does not matter: {} of one core. Look elsewhere.", percent(share.value));
        }
        if share.high < NO_MATTER {
            return format!(
                "The program does little, and {} of that is switching; together {} of one core.",
                of_program.map_or_else(String::new, percent),
                percent(share.value)
            );
        }
        match of_program {
            Some(share) if share >= MATTER => {
                format!(
                    "It matters: without its switches the program would need {} less CPU time.",
                    percent(share.min(1.0))
                )
            }
            Some(share) => format!("It matters little: {} of the program's CPU time.", percent(share)),
            None => format!("It takes {} of one core.", percent(share.value)),
        }
    }

    /// What the figure leaves out.
    fn not_covered(&self) -> Vec<String> {
        let count = self.audit.switches() as f64;
        let indirect = match self.indirect {
            Some((low, high)) => format!(
                "indirect cost (caches refilled after a switch): {} to {} of a CPU, by the stored sweep of working sets ({} to {} ns a switch)",
                percent(count * low / self.wall_ns()),
                percent(count * high / self.wall_ns()),
                nanoseconds(low),
                nanoseconds(high)
            ),
            None => {
                format!("indirect cost (caches refilled after a switch): not known; run `{}`", self.indirect_command)
            }
        };
        let mut all = vec![indirect];
        all.push(
            "CPU time of others: interrupts, the idle loop, and the part of a wake-up that another program pays".into(),
        );
        all
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Shares {
    value: f64,
    low: f64,
    high: f64,
}

impl Shares {
    fn text(self) -> String {
        format!("{} ({} – {})", percent(self.value), percent(self.low), percent(self.high))
    }
}

fn kind_name(kind: SwitchKind) -> &'static str {
    match kind {
        SwitchKind::SameCpu => "switch on one CPU",
        SwitchKind::IdleCpu => "wake-up of an idle CPU",
        SwitchKind::Timer => "sleep until a timer",
        SwitchKind::Preempted => "preempted",
    }
}

/// For a terminal.
#[must_use]
pub fn audit_text(audited: &Audited, style: Style) -> String {
    let (seen, audit) = (&audited.observed, &audited.audit);
    let mut out = format!(
        "{} (pid {}), {} threads, watched for {:.1} s{}\n",
        style.bold(&seen.program),
        seen.process,
        seen.threads.len(),
        seen.wall.as_secs_f64(),
        if seen.ended { ", until its end" } else { "" }
    );
    out.push_str(&format!(
        "{} switches a second: {} voluntary, {} involuntary\n",
        grouped(audited.per_second(audit.switches() as f64).round() as i64),
        grouped(audited.per_second(audit.voluntary as f64).round() as i64),
        grouped(audited.per_second(audit.involuntary as f64).round() as i64)
    ));
    let of_program = audited.of_program(audit.cost.value).map_or(String::new(), |share| {
        format!(
            ", {} of the program's CPU time ({:.2} CPUs)",
            percent(share),
            audit.cpu_ns.unwrap_or(0.0) / audited.wall_ns()
        )
    });
    out.push_str(&format!("cost: {} of a CPU{of_program}\n", audited.share(audit.cost).text()));
    out.push_str(&format!("{}\n\n", style.bold(&audited.verdict())));
    out.push_str(&kinds_table(audited, style));
    out.push('\n');
    out.push_str(&threads_table(audited, style));
    out.push_str("\nnot covered\n");
    let mut rest = audited.not_covered();
    rest.extend(seen.blind.iter().cloned());
    rest.iter().for_each(|text| out.push_str(&wrapped("  - ", text, style)));
    out.push_str("priced by\n");
    for price in used(audited) {
        let here = price.at(audit.pace);
        let text = format!(
            "{}: {} ns of CPU time a switch ({} – {}), {} of run {}; {}{}",
            kind_name(price.rule.kind),
            nanoseconds(here.value),
            nanoseconds(here.low),
            nanoseconds(here.high),
            price.rule.wanted,
            price.run,
            price.rule.why,
            by_pace(price, audit.pace)
        );
        out.push_str(&wrapped("  - ", &text, style));
    }
    let mut notes = audited.notes.clone();
    if audit.bounded {
        notes.push("by the prices below it would be more CPU time than the program used at all: its switches are cheaper than those measured, and what it used is the bound".into());
    }
    notes.extend(audited.command_status.clone());
    notes.push(own(seen));
    notes.iter().for_each(|text| out.push_str(&wrapped("note: ", text, style)));
    style.sealed(&out)
}

/// How a price grows with the work or sleep between switches.
fn by_pace(price: &Price, pace: Pace) -> String {
    let Some(most) = price.points.last() else { return String::new() };
    let (what, each_ns) = match price.rule.apart.is_empty() {
        true => ("CPU time from switch to switch", pace.cpu_ns),
        false => ("time from sleep to sleep", pace.asleep_ns),
    };
    let here = each_ns.map_or_else(|| "not known here".to_owned(), |each| format!("{} ns here", nanoseconds(each)));
    format!(
        "; it changes with the {what} ({here}): {} ns at {} ns, {} at {} ns",
        nanoseconds(price.cpu.value),
        nanoseconds(price.each_ns),
        nanoseconds(most.cpu.value),
        nanoseconds(most.each_ns)
    )
}

fn own(seen: &Observed) -> String {
    let share = seen.own_cpu_ns as f64 / seen.wall.as_nanos().max(1) as f64;
    format!("{} looks at /proc, {} of a core; nothing is attached to the program", seen.looks, percent(share))
}

/// Prices that a switch of this program was counted by, each once.
fn used(audited: &Audited) -> Vec<&Price> {
    let mut found: Vec<&Price> = Vec::new();
    for kind in audited.audit.kinds.iter().filter(|kind| kind.count >= 0.5) {
        let of_kind = || audited.prices.iter().filter(|price| price.rule.kind == kind.kind);
        for thread in &audited.audit.threads {
            let channels = thread.seen.channels.keys().map(String::as_str);
            let any = thread.seen.channels.is_empty().then_some("");
            for channel in channels.chain(any) {
                if let Some(price) = of_kind().find(|price| price.rule.takes(channel))
                    && !found.iter().any(|other| std::ptr::eq(*other, price))
                {
                    found.push(price);
                }
            }
        }
    }
    found
}

fn kinds_table(audited: &Audited, style: Style) -> String {
    let mut table = style.table();
    table.set_header(vec![
        cell("what happened"),
        right("switches/s"),
        right("CPU time each, ns"),
        right("of a CPU"),
        right("delay each, µs"),
    ]);
    for kind in audited.audit.kinds.iter().filter(|kind| kind.count >= 0.5) {
        table.add_row(vec![
            cell(kind_name(kind.kind)),
            right(grouped(audited.per_second(kind.count).round() as i64)),
            right(nanoseconds(kind.cost.value / kind.count)),
            right(percent(kind.cost.value / audited.wall_ns())),
            right(delay_us(kind).map_or("–".into(), nanoseconds)),
        ]);
    }
    trimmed(&table)
}

fn delay_us(kind: &Kind) -> Option<f64> {
    kind.delay_ns.filter(|_| kind.count > 0.0).map(|ns| ns / kind.count / 1000.0)
}

fn threads_table(audited: &Audited, style: Style) -> String {
    let all = &audited.audit.threads;
    let shown = if audited.all_threads { all.len() } else { SHOWN };
    let mut table = style.table();
    let head = ["thread", "name", "voluntary/s", "involuntary/s", "of a CPU", "of the cost", "CPUs", "waits in"];
    table.set_header(
        head.iter().enumerate().map(|(i, text)| if (2..6).contains(&i) { right(text) } else { cell(text) }),
    );
    for thread in all.iter().take(shown) {
        let whole = audited.audit.cost.value;
        let mark = if thread.seen.ended { " (ended)" } else { "" };
        let cpus: Vec<String> = thread.seen.cpus.keys().map(u32::to_string).collect();
        table.add_row(vec![
            cell(thread.seen.thread),
            cell(format!("{}{mark}", thread.seen.name)),
            right(grouped(audited.per_second(thread.seen.voluntary as f64).round() as i64)),
            right(grouped(audited.per_second(thread.seen.involuntary as f64).round() as i64)),
            right(percent(thread.cost.value / audited.wall_ns())),
            right(if whole > 0.0 { percent(thread.cost.value / whole) } else { "–".into() }),
            cell(cpus.join(",")),
            cell(waits(thread)),
        ]);
    }
    let mut out = trimmed(&table);
    if all.len() > shown {
        out.push_str(&format!(" … and {} threads more (--threads shows them)\n", all.len() - shown));
    }
    if audited.audit.unseen > 0 {
        out.push_str(&format!(
            " {} switches are of processes and threads that no look saw; they are in the sums\n",
            grouped(audited.audit.unseen as i64)
        ));
    }
    out
}

/// What it was seen waiting in, most often first.
fn waits(thread: &ThreadCost) -> String {
    let mut channels: Vec<(&String, &u32)> = thread.seen.channels.iter().collect();
    channels.sort_by_key(|(name, looks)| (std::cmp::Reverse(**looks), (*name).clone()));
    let names: Vec<&str> = channels.into_iter().take(2).map(|(name, _)| name.as_str()).collect();
    if names.is_empty() { "–".into() } else { names.join(", ") }
}

#[derive(Serialize)]
struct AuditJson<'a> {
    format: u32,
    program: &'a str,
    pid: u32,
    seconds: f64,
    ended: bool,
    voluntary: u64,
    involuntary: u64,
    unseen: u64,
    bounded_by_program_cpu: bool,
    cost_ns: Shares,
    share_of_a_cpu: Shares,
    program_cpu_ns: Option<f64>,
    share_of_program: Option<f64>,
    verdict: String,
    kinds: Vec<KindJson>,
    threads: Vec<ThreadJson<'a>>,
    wake_interrupts: Option<u64>,
    indirect_ns: Option<(f64, f64)>,
    prices: Vec<PriceJson<'a>>,
    not_covered: Vec<String>,
    notes: &'a [String],
    command_status: &'a Option<String>,
    looks: u32,
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
    voluntary: u64,
    involuntary: u64,
    cpu_ns: Option<u64>,
    cost_ns: f64,
    cpus: Vec<u32>,
    waits_in: Vec<&'a str>,
    ended: bool,
}

#[derive(Serialize)]
struct PriceJson<'a> {
    kind: &'static str,
    measured_as: String,
    cpu_ns: Shares,
    delay_ns: Option<f64>,
    run: &'a str,
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
        pid: seen.process,
        seconds: seen.wall.as_secs_f64(),
        ended: seen.ended,
        voluntary: audit.voluntary,
        involuntary: audit.involuntary,
        unseen: audit.unseen,
        bounded_by_program_cpu: audit.bounded,
        cost_ns: plain(audit.cost),
        share_of_a_cpu: audited.share(audit.cost),
        program_cpu_ns: audit.cpu_ns,
        share_of_program: audited.of_program(audit.cost.value),
        verdict: audited.verdict(),
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
        prices: used(audited)
            .into_iter()
            .map(|price| PriceJson {
                kind: price.rule.kind.as_str(),
                measured_as: price.rule.wanted.to_string(),
                cpu_ns: plain(price.at(audit.pace)),
                delay_ns: price.delay_ns,
                run: &price.run,
                why: &price.rule.why,
            })
            .collect(),
        not_covered,
        notes: &audited.notes,
        command_status: &audited.command_status,
        looks: seen.looks,
        own_cpu_ns: seen.own_cpu_ns,
    };
    // One line, so that the pictures of --watch are JSON Lines.
    serde_json::to_string(&json).expect("plain data") + "\n"
}

fn thread_json(thread: &ThreadCost) -> ThreadJson<'_> {
    ThreadJson {
        process: thread.seen.process,
        thread: thread.seen.thread,
        name: &thread.seen.name,
        voluntary: thread.seen.voluntary,
        involuntary: thread.seen.involuntary,
        cpu_ns: thread.seen.cpu_ns,
        cost_ns: thread.cost.value,
        cpus: thread.seen.cpus.keys().copied().collect(),
        waits_in: thread.seen.channels.keys().map(String::as_str).collect(),
        ended: thread.seen.ended,
    }
}
