//! What a program's switches cost it, as text and JSON.

use crate::cost::{Audit, Estimate, Kind, Pace, Price, ThreadCost};
use crate::names::{Named, by_name};
use crate::rule::SwitchKind;
use core::time::Duration;
use serde::Serialize;
use std::collections::BTreeMap;
use switchcost_analysis::Quantity;
use switchcost_analysis::number::{grouped, nanoseconds, percent, roughly};
use switchcost_machine::program::Observed;
use switchcost_model::Value;
use switchcost_report::answer::{Cell, Section};
use switchcost_report::text::{Style, wrapped};

/// Threads shown unless all are asked for.
const SHOWN: usize = 5;

/// Below this share of one CPU, at the upper end of the interval, switches do not matter.
const NO_MATTER: f64 = 0.01;

/// Prices not older than this were measured for this answer.
const JUST_NOW: Duration = Duration::from_secs(120);

/// All that one `audit` has to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
    /// What was seen.
    pub observed: Observed,
    /// What it costs.
    pub audit: Audit,
    /// What it was priced by.
    pub prices: Vec<Price>,
    /// What a switch costs afterwards, in caches, ns, least and most over the stored sweep; None:
    /// not known.
    pub indirect: Option<(f64, f64)>,
    /// The command that would measure that.
    pub indirect_command: String,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// How a command that was started ended; None: none was, or it still runs.
    pub command_status: Option<String>,
    /// Its exit status, as shells tell it: of a signal 128 and its number.
    pub command_exit: Option<i32>,
    /// The option that names it, if it is a service.
    pub service: Option<String>,
    /// Show every thread.
    pub all_threads: bool,
    /// When it is said, ns since 1970: prices have an age.
    pub now_unix_ns: i64,
}

impl Audited {
    fn wall_ns(&self) -> f64 {
        self.observed.wall.as_nanos().max(1) as f64
    }

    fn per_second(&self, count: f64) -> f64 {
        count * 1e9 / self.wall_ns()
    }

    /// Of one CPU.
    pub(crate) fn share(&self, cost: Estimate) -> Shares {
        let wall = self.wall_ns();
        Shares { value: cost.value / wall, low: cost.low / wall, high: cost.high / wall }
    }

    pub(crate) fn of_program(&self, cost: Estimate) -> Option<Shares> {
        let cpu = self.audit.cpu_ns.filter(|cpu| *cpu > 0.0)?;
        Some(Shares { value: cost.value / cpu, low: cost.low / cpu, high: cost.high / cpu })
    }

    /// What do its switches cost, and what limits that.
    pub(crate) fn sentence(&self) -> String {
        let disturbed = used(self).iter().any(|price| price.disturbed);
        let limit = " Other programs ran while the cost per switch was measured: it may be too high.";
        self.cost_sentence() + if disturbed { limit } else { "" }
    }

    fn cost_sentence(&self) -> String {
        let (audit, program) = (&self.audit, &self.observed.program);
        let (share, of_program) = (self.share(audit.cost), self.of_program(audit.cost));
        let rate = match self.per_second(audit.switches() as f64).round() as i64 {
            1 => "1 switch/s".to_owned(),
            many => format!("{} switches/s", grouped(many)),
        };
        if audit.switches() == 0 {
            return format!("No switch was seen: whatever {program} waits for, it is not its switches.");
        }
        if audit.misfit {
            return format!(
                "Switching costs {program} at most {} of a CPU ({rate}), of {} that it used in all: the measured costs do not fit this program, \
                 since they would explain more than nine tenths of its CPU time.",
                percent(share.high),
                percent(audit.cpu_ns.unwrap_or(audit.cost.high) / self.wall_ns())
            );
        }
        let costs = format!("Switching costs {program} {} of a CPU ({rate})", share.text());
        if share.high < NO_MATTER {
            let little = of_program.map(|part| format!(" That is {} of the CPU time it used.", part.text()));
            return format!("{costs}: negligible.{}", little.unwrap_or_default());
        }
        let of_program = of_program.map_or(String::new(), |part| format!(", {} of the CPU time it used", part.text()));
        let others = |kind: &Kind| audit.kinds.iter().map(|one| one.cost.high).sum::<f64>() - kind.cost.high;
        let mostly = audit.kinds.iter().find(|kind| kind.cost.low > others(kind));
        let mostly = mostly.map_or(String::new(), |kind| format!("; most of it: {}", kind_name(kind.kind)));
        format!("{costs}{of_program}{mostly}.")
    }

    /// Said of a part of the cost.
    fn of_cost(&self, cost: f64) -> String {
        format!("{} of the cost", percent(cost / self.audit.cost.value.max(f64::MIN_POSITIVE)))
    }

    /// When the costs of a switch were measured.
    fn prices_age(&self) -> String {
        let ages = || self.prices.iter().map(|price| self.age(price));
        let (youngest, oldest) = (ages().min().unwrap_or_default(), ages().max().unwrap_or_default());
        if oldest < JUST_NOW {
            return "cost per switch: measured just now".to_owned();
        }
        let range = match (roughly(youngest), roughly(oldest)) {
            (young, old) if young == old => old,
            (young, old) => format!("{young} to {old}"),
        };
        format!("cost per switch: measured {range} ago (it drifts; a new file for --store has it measured again)")
    }

    pub(crate) fn age(&self, price: &Price) -> Duration {
        Duration::from_nanos(u64::try_from(self.now_unix_ns.saturating_sub(price.measured_unix_ns)).unwrap_or(0))
    }

    /// What its switches may cost in caches, of a CPU.
    pub(crate) fn indirect_share(&self) -> Option<(f64, f64)> {
        let (low, high) = self.audit.indirect(self.indirect?);
        Some((low / self.wall_ns(), high / self.wall_ns()))
    }

    /// What the figure leaves out.
    pub(crate) fn not_covered(&self) -> Vec<String> {
        let indirect = match self.indirect.zip(self.indirect_share()) {
            Some(((least, most), (low, high))) => format!(
                "caches refilled after a switch: {} to {} of a CPU ({} to {} ns per switch by the stored sweep of working sets, and no \
                 more than the program used besides)",
                percent(low),
                percent(high),
                nanoseconds(least),
                nanoseconds(most)
            ),
            None => {
                format!("caches refilled after a switch: not known; run `{}`", self.indirect_command)
            }
        };
        vec![
            indirect,
            "CPU time of others: interrupts, the idle loop, and the part of a wake-up that another program pays".into(),
        ]
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Shares {
    pub value: f64,
    pub low: f64,
    pub high: f64,
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
        SwitchKind::Preempted => "preemption",
    }
}

/// For a terminal; `verbose`: with what each cost was measured by, and what looking cost.
#[must_use]
pub fn audit_text(audited: &Audited, verbose: bool, style: Style) -> String {
    let (seen, audit) = (&audited.observed, &audited.audit);
    let rate = |count: f64| grouped(audited.per_second(count).round() as i64);
    let threads =
        if seen.threads.len() == 1 { "1 thread".to_owned() } else { format!("{} threads", seen.threads.len()) };
    let what = match (&audited.service, seen.processes) {
        (Some(service), Some(1)) => format!("{service}, 1 process"),
        (Some(service), Some(processes)) => format!("{service}, {processes} processes"),
        _ => format!("pid {}", seen.process),
    };
    let about = format!(
        "{what}, {threads}, watched for {:.1} s{}: {} voluntary and {} involuntary switches/s{}",
        seen.wall.as_secs_f64(),
        if seen.ended { ", until its end" } else { "" },
        rate(audit.voluntary as f64),
        rate(audit.involuntary as f64),
        audit.cpu_ns.map_or(String::new(), |ns| format!("; it used {:.2} CPUs", ns / audited.wall_ns()))
    );
    let mut out = style.headline(&audited.sentence()) + &wrapped("", &about, style) + "\n";
    if audit.switches() > 0 {
        out.push_str(&(kinds_table(audited, style) + "\n"));
    }
    out.push_str(&if audited.service.is_some() { names_table(audited, style) } else { threads_table(audited, style) });
    out.push_str("\nnot covered\n");
    let mut rest = audited.not_covered();
    rest.extend(seen.blind.iter().cloned());
    rest.iter().for_each(|text| out.push_str(&wrapped("  - ", text, style)));
    let more = if verbose { "" } else { "; -v says by which rows" };
    out.push_str(&wrapped("", &format!("{}{more}", audited.prices_age()), style));
    for price in used(audited).into_iter().filter(|_| verbose) {
        let here = price.at(audit.pace);
        let text = format!(
            "{}: {} ns of CPU time per switch ({} – {}), {} of run {}, {} ago; {}{}",
            kind_name(price.rule.kind),
            nanoseconds(here.value),
            nanoseconds(here.low),
            nanoseconds(here.high),
            price.rule.wanted,
            price.run,
            roughly(audited.age(price)),
            price.rule.why,
            by_pace(price, audit.pace)
        );
        out.push_str(&wrapped("  - ", &text, style));
    }
    let mut notes = audited.notes.clone();
    if audit.misfit {
        notes.push("costs of kinds and threads are scaled down to what the program used: its switches are cheaper than those measured".into());
    }
    notes.extend(audited.command_status.clone());
    notes.extend(verbose.then(|| own(seen)));
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
    format!(
        "overhead: {} reads of /proc, {} of a core; nothing is attached to the program",
        seen.samples,
        percent(share)
    )
}

/// Prices that a switch of this program was counted by, each once.
pub(crate) fn used(audited: &Audited) -> Vec<&Price> {
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
    let titles = [("what happened", 0), ("switches/s", 0), ("CPU time each", 1), ("of a CPU", 0), ("delay each", 2)];
    let kinds = audited.audit.kinds.iter().filter(|kind| kind.count >= 0.5);
    let row = |kind: &Kind| {
        let delay = delay_us(kind).map_or(Value::Unknown, |us| Value::Amount(us * 1000.0, Quantity::TIME));
        vec![
            Cell::Name(kind_name(kind.kind).to_owned()),
            per_second(audited, kind.count),
            Cell::Value(Value::Amount(kind.cost.value / kind.count, Quantity::TIME)),
            Cell::Value(Value::Percent(kind.cost.value / audited.wall_ns())),
            Cell::Value(delay),
        ]
    };
    Section::new(titles).with(kinds.map(row)).terminal(style)
}

fn per_second(audited: &Audited, count: f64) -> Cell {
    (audited.per_second(count).round() as u64).into()
}

pub(crate) fn delay_us(kind: &Kind) -> Option<f64> {
    kind.delay_ns.filter(|_| kind.count > 0.0).map(|ns| ns / kind.count / 1000.0)
}

fn threads_table(audited: &Audited, style: Style) -> String {
    let all = &audited.audit.threads;
    let shown = if audited.all_threads { all.len() } else { SHOWN };
    let titles = [
        ("thread", 0),
        ("name", 0),
        ("of the cost", 0),
        ("of a CPU", 1),
        ("voluntary/s", 3),
        ("involuntary/s", 4),
        ("CPUs", 2),
        ("waits in", 0),
    ];
    let row = |thread: &ThreadCost| {
        let mark = if thread.seen.ended { " (ended)" } else { "" };
        let cpus: Vec<String> = thread.seen.cpus.keys().map(u32::to_string).collect();
        vec![
            Cell::Name(thread.seen.thread.to_string()),
            format!("{}{mark}", thread.seen.name).into(),
            Cell::Value(Value::Percent(thread.cost.value / audited.audit.cost.value.max(f64::MIN_POSITIVE))),
            Cell::Value(Value::Percent(thread.cost.value / audited.wall_ns())),
            per_second(audited, thread.seen.voluntary as f64),
            per_second(audited, thread.seen.involuntary as f64),
            cpus.join(",").into(),
            Cell::Words(waits(thread)),
        ]
    };
    let mut out = Section::new(titles).with(all.iter().take(shown).map(row)).terminal(style);
    if all.len() > shown {
        let rest: f64 = all[shown..].iter().map(|thread| thread.cost.value).sum();
        let count = all.len() - shown;
        out.push_str(&format!(" … and {count} more threads, {} (--threads shows them)\n", audited.of_cost(rest)));
    }
    if audited.audit.unseen > 0 {
        let (more, cost) = (grouped(audited.audit.unseen as i64), audited.of_cost(audited.audit.unseen_cost));
        let of = "brief threads or processes and of its last moments";
        out.push_str(&wrapped(" ", &format!("{more} more switches are of {of}, {cost}"), style));
    }
    out
}

/// Threads of a service by process and name: they come and go, and what a name costs is what
/// counts.
fn names_table(audited: &Audited, style: Style) -> String {
    let all = by_name(&audited.audit.threads);
    let shown = if audited.all_threads { all.len() } else { SHOWN };
    let titles = [
        ("process", 0),
        ("thread", 0),
        ("threads", 0),
        ("of the cost", 0),
        ("of a CPU", 1),
        ("voluntary/s", 3),
        ("involuntary/s", 4),
        ("waits in", 0),
    ];
    let row = |one: &Named<'_>| {
        vec![
            Cell::Name(one.program.to_owned()),
            one.name.to_owned().into(),
            one.threads.into(),
            Cell::Value(Value::Percent(one.cost / audited.audit.cost.value.max(f64::MIN_POSITIVE))),
            Cell::Value(Value::Percent(one.cost / audited.wall_ns())),
            per_second(audited, one.voluntary as f64),
            per_second(audited, one.involuntary as f64),
            Cell::Words(waited(&one.channels, one.supposed)),
        ]
    };
    let mut out = Section::new(titles).with(all.iter().take(shown).map(row)).terminal(style);
    if let Some(rest) = all.get(shown..).filter(|rest| !rest.is_empty()) {
        let cost = audited.of_cost(rest.iter().map(|one| one.cost).sum());
        out.push_str(&format!(" … and {} more names, {cost} (--threads shows them)\n", rest.len()));
    }
    out
}

/// What it was seen waiting in, or is supposed to, most often first.
fn waits(thread: &ThreadCost) -> String {
    waited(&thread.seen.channels, thread.supposed)
}

fn waited(channels: &BTreeMap<String, u32>, supposed: bool) -> String {
    let mut channels: Vec<(&String, &u32)> = channels.iter().collect();
    channels.sort_by_key(|(name, samples)| (std::cmp::Reverse(**samples), (*name).clone()));
    let names: Vec<&str> = channels.into_iter().take(2).map(|(name, _)| name.as_str()).collect();
    let inferred = if supposed { " (inferred)" } else { "" };
    if names.is_empty() { "–".into() } else { names.join(", ") + inferred }
}
