//! What the switches of a program cost it: how many of each kind there were, times what one costs
//! here.
//!
//! `/proc` tells how often a thread blocked and how often it was pushed aside, not what happened
//! then. Three things are concluded:
//!
//! - A thread that wakes another on its own CPU is pushed aside by it. So as many involuntary
//!   switches as there are voluntary ones are halves of switches on one CPU; what is left of the
//!   involuntary ones is plain preemption.
//! - What is left of the voluntary ones is sleep, in threads that were seen to sleep on a timer;
//!   else it was woken on another CPU that was idle, at most as often as CPUs interrupted each
//!   other; the rest took over a CPU that was busy.
//! - What a thread waits for, as seen at the looks, says which mechanism stands for it.

use crate::rule::{PriceRule, SwitchKind};
use std::collections::BTreeMap;
use switchcost_analysis::{Analysis, counted, series};
use switchcost_machine::program::{Observed, ThreadSeen};
use switchcost_model::{Invocation, Placement, Run};
use switchcost_stats::{Interval, median, median_interval, quantile, sorted};

/// Name of the evidence count that holds the CPU time of the participating tasks, ns.
const CPU_TIME: &str = "cpu_time_ns";

/// Share of the program's CPU time from which on prices that explain it are not believed: no
/// program does nothing but switch.
const MOST_OF_PROGRAM: f64 = 0.9;

/// Switches a unit below which a measurement says nothing of a switch.
const FEWEST_SWITCHES: f64 = 0.1;

/// A value with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Lower end; the value itself where there are too few invocations for an interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimate {
    fn of(values: &[f64]) -> Option<Self> {
        let values = sorted(values);
        let value = quantile(&values, 0.5)?;
        let Interval { low, high } = median_interval(&values, 0.95).unwrap_or(Interval { low: value, high: value });
        Some(Self { value, low, high })
    }

    /// The same value, with an interval that also holds that of the other.
    #[must_use]
    pub fn reaching(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high), ..self }
    }

    fn times(self, count: f64) -> Self {
        Self { value: self.value * count, low: self.low * count, high: self.high * count }
    }

    fn plus(self, other: Self) -> Self {
        Self { value: self.value + other.value, low: self.low + other.low, high: self.high + other.high }
    }
}

/// How far apart switches are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pace {
    /// CPU time of the program from switch to switch, ns; None: unknown.
    pub cpu_ns: Option<f64>,
    /// Time on the clock from one sleep of a thread to its next, ns; None: none sleeps.
    pub asleep_ns: Option<f64>,
}

/// What a switch costs that does not follow the one before at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PricePoint {
    /// Time from switch to switch, ns: with work between them CPU time, with sleep on the clock.
    pub each_ns: f64,
    /// CPU time of the switch.
    pub cpu: Estimate,
}

/// What one switch of a kind costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// Which switches it is for.
    pub rule: PriceRule,
    /// CPU time of a switch that follows the one before at once, ns.
    pub cpu: Estimate,
    /// Time from one such switch to the next, ns, as that of the points is counted.
    pub each_ns: f64,
    /// And of switches with work or sleep between them, by growing time.
    pub points: Vec<PricePoint>,
    /// From the wake-up until the woken thread runs, ns; None where the measurement does not tell.
    pub delay_ns: Option<f64>,
    /// Others used its CPU in starts that it is made of: it may be too high.
    pub disturbed: bool,
    /// Run it comes from.
    pub run: String,
    /// When that began, ns since 1970.
    pub measured_unix_ns: i64,
}

impl Price {
    /// The price at such a pace: between the two measurements it lies between. That is a mean of
    /// what may differ from switch to switch, and how long another CPU had slept, when it was
    /// woken, is only concluded; the interval reaches over all that was measured.
    #[must_use]
    pub fn at(&self, pace: Pace) -> Estimate {
        // A sleep ten times as long lets as much more go cold, whatever its length: its time is
        // taken by its logarithm.
        let asleep = !self.rule.apart.is_empty();
        let scaled = |ns: f64| if asleep { ns.max(1.0).ln() } else { ns };
        let each_ns = if asleep { pace.asleep_ns } else { pace.cpu_ns };
        let mut before = PricePoint { each_ns: self.each_ns, cpu: self.cpu };
        let mut value = self.cpu.value;
        let (mut low, mut high) = (self.cpu.low, self.cpu.high);
        for point in &self.points {
            let span = (scaled(point.each_ns) - scaled(before.each_ns)).max(f64::MIN_POSITIVE);
            let way = each_ns.map_or(0.0, |each| ((scaled(each) - scaled(before.each_ns)) / span).clamp(0.0, 1.0));
            value += way * (point.cpu.value - before.cpu.value);
            low = low.min(point.cpu.low);
            high = high.max(point.cpu.high);
            before = *point;
        }
        Estimate { value, low, high }
    }
}

/// What a switch costs in a variant that works between switches, and whose work alone was also
/// measured.
#[must_use]
pub fn point_of(run: &Run, with: usize, alone: usize) -> Option<PricePoint> {
    let walls = |variant: usize| -> Vec<f64> {
        counted(&run.starts_of(variant)).0.iter().filter_map(|i| median(series(i).settled())).collect()
    };
    // One context that never blocks: the time on the clock is its CPU time.
    let work = median(&walls(alone))?;
    let both: Vec<(f64, f64)> = counted(&run.starts_of(with))
        .0
        .iter()
        .filter_map(|invocation| {
            let each = cpu_per_switch(invocation, None)?;
            let evidence = invocation.transcript.evidence.as_ref()?;
            let kernel = evidence.kernel.as_ref()?;
            let switches = (kernel.voluntary + kernel.involuntary) as f64;
            Some((each, each - work * evidence.units as f64 / switches))
        })
        .collect();
    let each_ns = median(&both.iter().map(|(each, _)| *each).collect::<Vec<_>>())?;
    let cpu = Estimate::of(&both.iter().map(|(_, switch)| *switch).collect::<Vec<_>>())?;
    (cpu.value > 0.0).then_some(PricePoint { each_ns, cpu })
}

/// CPU time of one kernel switch in a measured variant, ns, and wall time of a unit.
///
/// Where the probe does not count CPU time, wall time is taken for it if all contexts share one
/// CPU, which is then never idle.
#[must_use]
pub fn price_of(run: &Run, variant: usize) -> Option<(Estimate, f64)> {
    let (counted, _) = counted(&run.starts_of(variant));
    let on_one_cpu = run.variants[variant].placement.on_one_cpu();
    let walls: Vec<(f64, &Invocation)> =
        counted.iter().filter_map(|i| Some((median(series(i).settled())?, *i))).collect();
    let cpu: Vec<f64> = walls.iter().filter_map(|(wall, i)| cpu_per_switch(i, on_one_cpu.then_some(*wall))).collect();
    Some((Estimate::of(&cpu)?, median(&walls.iter().map(|(wall, _)| *wall).collect::<Vec<_>>())?))
}

/// Its figures are of starts that others disturbed.
#[must_use]
pub fn is_disturbed(run: &Run, variant: usize) -> bool {
    counted(&run.starts_of(variant)).0.iter().any(|start| !start.disturbances.is_empty())
}

fn cpu_per_switch(invocation: &Invocation, wall_ns: Option<f64>) -> Option<f64> {
    let evidence = invocation.transcript.evidence.as_ref()?;
    let kernel = evidence.kernel.as_ref()?;
    let per_unit = (kernel.voluntary + kernel.involuntary) as f64 / evidence.units.max(1) as f64;
    let cpu = match evidence.counts.get(CPU_TIME) {
        Some(&ns) => ns as f64 / evidence.units.max(1) as f64,
        None => wall_ns?,
    };
    (per_unit >= FEWEST_SWITCHES).then(|| cpu / per_unit)
}

/// Switches of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kind {
    /// Which.
    pub kind: SwitchKind,
    /// How many.
    pub count: f64,
    /// What they cost, ns of CPU time.
    pub cost: Estimate,
    /// How long woken threads waited for their CPU, all together, ns; None: not measured.
    pub delay_ns: Option<f64>,
}

/// A thread's part.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadCost {
    /// What was seen of it; where no look saw it wait, it waits where busy ones of its name do.
    pub seen: ThreadSeen,
    /// No look saw it wait: what it waits in is inferred.
    pub supposed: bool,
    /// What its switches cost, ns of CPU time.
    pub cost: Estimate,
}

/// What the switches of a program cost it.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// Voluntary switches.
    pub voluntary: u64,
    /// Involuntary ones.
    pub involuntary: u64,
    /// By kind.
    pub kinds: Vec<Kind>,
    /// CPU time of all switches, ns; never more than the program used. The costs of kinds and
    /// threads add up to it.
    pub cost: Estimate,
    /// The prices do not fit this program: they explain more than nine tenths of what it used. The
    /// cost is then an upper bound and nothing more.
    pub misfit: bool,
    /// CPU time of the program, ns; None: unknown.
    pub cpu_ns: Option<f64>,
    /// Threads, most expensive first.
    pub threads: Vec<ThreadCost>,
    /// Switches beyond those that looks saw: of brief threads or processes and of its last moments.
    pub unseen: u64,
    /// What they cost, ns of CPU time.
    pub unseen_cost: f64,
    /// How far apart the switches are, of all threads together.
    pub pace: Pace,
}

impl Audit {
    /// All switches.
    #[must_use]
    pub fn switches(&self) -> u64 {
        self.voluntary + self.involuntary
    }

    fn scaled(mut self, by: f64) -> Self {
        self.unseen_cost *= by;
        self.kinds.iter_mut().for_each(|kind| kind.cost = kind.cost.times(by));
        self.threads.iter_mut().for_each(|thread| thread.cost = thread.cost.times(by));
        self
    }

    /// What the switches may cost afterwards, in caches, by what one does, ns, least and most: no
    /// more than the program used besides.
    #[must_use]
    pub fn indirect(&self, each: (f64, f64)) -> (f64, f64) {
        let most = self.cpu_ns.map_or(f64::INFINITY, |cpu| (cpu - self.cost.low).max(0.0));
        let count = self.switches() as f64;
        ((count * each.0).min(most), (count * each.1).min(most))
    }
}

/// How a program's switches divide into kinds.
#[derive(Debug, Clone, Copy, Default)]
struct Shares {
    /// Of the voluntary ones: not one half of a switch on one CPU.
    alone: f64,
    /// Of those of them that are not sleeps: woken by an interrupt from another CPU.
    interrupted: f64,
    /// Of the involuntary ones: pushed aside by the thread just woken.
    pushed: f64,
}

impl Shares {
    fn of(threads: &[ThreadSeen], prices: &[Price], wake_interrupts: Option<u64>) -> Self {
        let share = |part: f64, whole: f64| if whole <= 0.0 { 0.0 } else { (part / whole).min(1.0) };
        let sum = |of: &dyn Fn(&ThreadSeen) -> f64| threads.iter().map(of).sum::<f64>();
        let (voluntary, involuntary) = (sum(&|t| t.voluntary as f64), sum(&|t| t.involuntary as f64));
        let pairs = voluntary.min(involuntary);
        let alone = share(voluntary - pairs, voluntary);
        let woken = sum(&|t| t.voluntary as f64 * (1.0 - sleeping(t, prices))) * alone;
        let interrupted = wake_interrupts.map_or(1.0, |interrupts| share(interrupts as f64, woken));
        Self { alone, interrupted, pushed: share(pairs, involuntary) }
    }

    /// A thread's switches of each kind.
    fn counts(self, thread: &ThreadSeen, prices: &[Price]) -> BTreeMap<SwitchKind, f64> {
        let (voluntary, involuntary) = (thread.voluntary as f64, thread.involuntary as f64);
        let alone = voluntary * self.alone;
        let asleep = alone * sleeping(thread, prices);
        let interrupted = (alone - asleep) * self.interrupted;
        [
            (SwitchKind::SameCpu, voluntary - asleep - interrupted + involuntary * self.pushed),
            (SwitchKind::IdleCpu, interrupted),
            (SwitchKind::Timer, asleep),
            (SwitchKind::Preempted, involuntary * (1.0 - self.pushed)),
        ]
        .into()
    }
}

/// Share of a thread's looks that saw it sleep on a timer.
fn sleeping(thread: &ThreadSeen, prices: &[Price]) -> f64 {
    let timer = |channel: &str| prices.iter().any(|p| p.rule.kind == SwitchKind::Timer && p.rule.takes(channel));
    let samples: u32 = thread.channels.values().sum();
    let asleep: u32 = thread.channels.iter().filter(|(channel, _)| timer(channel)).map(|(_, samples)| samples).sum();
    if samples == 0 { 0.0 } else { f64::from(asleep) / f64::from(samples) }
}

/// Time from one sleep of a thread to its next, ns, as most sleeps have it: the threads' rates,
/// weighted by their sleeps.
fn asleep(threads: &[ThreadSeen], shares: Shares, prices: &[Price], wall_ns: f64) -> Option<f64> {
    let sleeps = threads.iter().map(|thread| shares.counts(thread, prices)[&SwitchKind::Timer]);
    let (sum, squares) = sleeps.fold((0.0, 0.0), |(sum, squares), sleeps| (sum + sleeps, squares + sleeps * sleeps));
    (sum > 0.0).then(|| wall_ns * sum / squares)
}

/// Prices a program's switches. `prices` are in the order of the data file; every kind has one that
/// takes any channel.
#[must_use]
pub fn audit(observed: &Observed, prices: &[Price]) -> Audit {
    let seen = |of: fn(&ThreadSeen) -> u64| observed.threads.iter().map(of).sum::<u64>();
    let (seen_voluntary, seen_involuntary) = (seen(|t| t.voluntary), seen(|t| t.involuntary));
    let (voluntary, involuntary) = observed
        .totals
        .map_or((seen_voluntary, seen_involuntary), |(v, i)| (v.max(seen_voluntary), i.max(seen_involuntary)));
    let mut threads = observed.threads.clone();
    let rest = ThreadSeen {
        voluntary: voluntary - seen_voluntary,
        involuntary: involuntary - seen_involuntary,
        channels: common_channels(observed.threads.iter()),
        ..ThreadSeen::default()
    };
    let unseen = rest.switches();
    threads.push(rest);
    let supposed = impute_channels(&mut threads);
    let shares = Shares::of(&threads, prices, observed.wake_interrupts);
    let cpu_ns = cpu_time(observed);
    let switches = voluntary + involuntary;
    let wall_ns = observed.wall.as_nanos() as f64;
    let pace = Pace {
        cpu_ns: cpu_ns.filter(|_| switches > 0).map(|ns| ns / switches as f64),
        asleep_ns: asleep(&threads, shares, prices, wall_ns),
    };
    let mut kinds: BTreeMap<SwitchKind, Kind> = BTreeMap::new();
    let mut costs = Vec::new();
    for (thread, supposed) in threads.into_iter().zip(supposed) {
        let mut whole = Estimate::default();
        let pace = Pace { asleep_ns: asleep(std::slice::from_ref(&thread), shares, prices, wall_ns), ..pace };
        for (kind, count) in shares.counts(&thread, prices) {
            if count == 0.0 {
                continue;
            }
            let (each, delay) = price(&thread, kind, prices, pace);
            let cost = each.times(count);
            whole = whole.plus(cost);
            let entry =
                kinds.entry(kind).or_insert(Kind { kind, count: 0.0, cost: Estimate::default(), delay_ns: None });
            entry.count += count;
            entry.cost = entry.cost.plus(cost);
            if let Some(delay) = delay {
                *entry.delay_ns.get_or_insert(0.0) += delay * count;
            }
        }
        costs.push(ThreadCost { seen: thread, supposed, cost: whole });
    }
    let unseen_cost = costs.pop().map_or(0.0, |rest| rest.cost.value); // The rest is not a thread.
    costs.sort_by(|a, b| b.cost.value.total_cmp(&a.cost.value).then(a.seen.thread.cmp(&b.seen.thread)));
    let kinds: Vec<Kind> = kinds.into_values().collect();
    let priced = kinds.iter().fold(Estimate::default(), |sum, kind| sum.plus(kind.cost));
    let (cost, misfit) = bounded(priced, cpu_ns);
    let found =
        Audit { voluntary, involuntary, cost, misfit, cpu_ns, threads: costs, kinds, unseen, unseen_cost, pace };
    if cost.value < priced.value { found.scaled(cost.value / priced.value) } else { found }
}

/// What the prices come to, no more than the program used.
fn bounded(priced: Estimate, cpu_ns: Option<f64>) -> (Estimate, bool) {
    let Some(most) = cpu_ns else { return (priced, false) };
    if priced.value > most * MOST_OF_PROGRAM {
        let bound = priced.high.min(most);
        return (Estimate { value: priced.value.min(most), low: 0.0, high: bound }, true);
    }
    (Estimate { high: priced.high.min(most), ..priced }, false)
}

/// Threads count in ns, whole processes in steps of 10 ms but with the dead.
fn cpu_time(observed: &Observed) -> Option<f64> {
    let threads: Option<u64> = observed.threads.iter().map(|thread| thread.cpu_ns).sum();
    let complete = !observed.threads.iter().any(|thread| thread.ended) && observed.totals.is_none();
    let known = if complete { threads.or(observed.group_cpu_ns) } else { observed.group_cpu_ns.max(threads) };
    known.map(|ns| ns as f64)
}

/// A namesake that switches less than this share of a thread's rate says nothing of where that
/// thread waits: it sleeps while the other works.
const ALIKE: u64 = 10;

/// A thread that no look saw waiting is supposed to wait where busy ones of its name do: of many
/// threads a look places only some. For each thread, whether that is supposed.
fn impute_channels(threads: &mut [ThreadSeen]) -> Vec<bool> {
    let borrowed: Vec<_> = threads
        .iter()
        .map(|thread| {
            let alike = |other: &&ThreadSeen| other.name == thread.name && other.voluntary * ALIKE >= thread.voluntary;
            let wanting = thread.channels.is_empty() && thread.voluntary > 0;
            common_channels(threads.iter().filter(|_| wanting).filter(alike))
        })
        .collect();
    let suppose = |(thread, channels): (&mut ThreadSeen, BTreeMap<String, u32>)| {
        let supposed = !channels.is_empty();
        if supposed {
            thread.channels = channels;
        }
        supposed
    };
    threads.iter_mut().zip(borrowed).map(suppose).collect()
}

/// Where these threads wait, each look at one weighted by its switches: one that sleeps all the
/// time counts as little as it switches.
fn common_channels<'a>(threads: impl Iterator<Item = &'a ThreadSeen>) -> BTreeMap<String, u32> {
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    for thread in threads.filter(|thread| thread.voluntary > 0) {
        let samples: u64 = thread.channels.values().map(|samples| u64::from(*samples)).sum();
        for (channel, count) in &thread.channels {
            *all.entry(channel.clone()).or_default() += (thread.voluntary * u64::from(*count)).div_ceil(samples.max(1));
        }
    }
    all.into_iter().map(|(channel, weight)| (channel, u32::try_from(weight).unwrap_or(u32::MAX))).collect()
}

/// CPU time and delay of a switch of this kind in this thread: of what it was seen waiting for,
/// each weighted by its looks. The interval reaches over all of them, since looks see long waits
/// more often than short ones.
fn price(thread: &ThreadSeen, kind: SwitchKind, prices: &[Price], pace: Pace) -> (Estimate, Option<f64>) {
    let find = |channel: &str| prices.iter().find(|price| price.rule.kind == kind && price.rule.takes(channel));
    let timer = |channel: &str| prices.iter().any(|p| p.rule.kind == SwitchKind::Timer && p.rule.takes(channel));
    // Where a thread sleeps on a timer says nothing of what it does when it does not.
    let mut channels = thread.channels.clone();
    channels.retain(|channel, _| timer(channel) == (kind == SwitchKind::Timer));
    if channels.is_empty() {
        channels.insert(String::new(), 1);
    }
    let (mut cpu, mut samples, mut delay) = (0.0, 0.0, None);
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for (channel, count) in channels {
        let Some(price) = find(&channel) else { continue };
        let weight = f64::from(count);
        let each = price.at(pace);
        cpu += each.value * weight;
        samples += weight;
        low = low.min(each.low);
        high = high.max(each.high);
        if let Some(ns) = price.delay_ns {
            *delay.get_or_insert(0.0) += ns * weight;
        }
    }
    if samples == 0.0 {
        return (Estimate::default(), None);
    }
    (Estimate { value: cpu / samples, low, high }, delay.map(|sum: f64| sum / samples))
}

/// What a switch on one CPU costs afterwards by the sweeps of `parameter` in a run, ns, least and
/// most: total − control − direct (`Split`). A point of fewer starts than an interval needs does
/// not count.
#[must_use]
pub fn indirect(analysis: &Analysis<'_>, parameter: &str) -> Option<(f64, f64)> {
    let sweeps = analysis.curves.iter().filter(|c| c.axis == parameter && c.variant.placement == Placement::usual());
    let points = sweeps.flat_map(|curve| &curve.splits).filter(|split| split.interval.is_some());
    let costs = points.filter_map(|split| split.indirect).map(|ns| (ns.max(0.0), ns.max(0.0)));
    costs.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

#[cfg(test)]
#[path = "cost_tests.rs"]
mod tests;
