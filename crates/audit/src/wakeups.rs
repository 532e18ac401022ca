//! `audit --wakeups`: how long the threads of a running program wait for a CPU after they were
//! woken, and for whom.

use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use switchcost_analysis::Quantity;
use switchcost_analysis::number::{grouped, percent, roughly};
use switchcost_machine::interrupt::Interrupt;
use switchcost_machine::program::{Watched, Woken};
use switchcost_machine::trace::{LONGEST, Trace, Waits, cpus_of, tasks_of};
use switchcost_report::text::{Style, json_line, wrapped};
use switchcost_session::{Failure, Progress};

/// Between two looks: a ring holds a second of a busy CPU.
const PAUSE: Duration = Duration::from_millis(250);

/// Percentiles, each with its word.
const SHARES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// Waits beyond a percentile that it takes.
const BEYOND: f64 = 10.0;

/// Who had the CPU is named down to this share.
const NAMED: f64 = 0.02;

/// What was seen.
#[derive(Debug, Serialize)]
pub(crate) struct Wakeups {
    format: u32,
    pid: u32,
    seconds: f64,
    threads: usize,
    wakeups: usize,
    /// Of those that so many wake-ups carry, ns.
    percentiles_ns: BTreeMap<&'static str, u64>,
    longest_ns: Option<u64>,
    /// Who had the CPU in the longest waits → ns.
    held_ns: BTreeMap<String, u64>,
    /// Events of the scheduler that the kernel did not keep.
    lost: u64,
}

/// Watches a process. True: it ended before the time was up, or the user stopped it.
///
/// # Errors
/// There is no such process, or it cannot be traced.
pub(crate) fn watch(pid: u32, time: Duration, stop: &Interrupt) -> Result<(Wakeups, bool), Failure> {
    let refused =
        |why: switchcost_model::Obstacle| Failure::usage(format!("wake-ups of process {pid} cannot be traced: {why}"));
    let watched = Watched::begin(pid, false).map_err(Failure::usage)?;
    let (mut tasks, cpus) = (tasks_of(pid), cpus_of(pid));
    let mut trace = Trace::begin(&cpus.into_iter().collect::<Vec<_>>()).map_err(refused)?;
    let (begin, end) = (Instant::now(), Instant::now() + time);
    let (mut early, mut progress) = (false, Progress::lines());
    while Instant::now() < end && !early {
        early = watched.wait(end.min(Instant::now() + PAUSE), Some(stop)) != Woken::Time;
        tasks.extend(tasks_of(pid));
        progress.say(|| watching(begin, Some(time)));
        trace.collect().map_err(refused)?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let waits = trace.waits(&tasks).map_err(refused)?;
    Ok((Wakeups::new(pid, seconds, &tasks, waits), early))
}

/// How long a program is watched already.
pub(crate) fn watching(began: Instant, time: Option<Duration>) -> String {
    let all = time.map_or(String::new(), |time| format!(" of {}", roughly(time)));
    format!("watching since {}{all}; Ctrl-C ends it with what was seen", roughly(began.elapsed()))
}

impl Wakeups {
    fn new(pid: u32, seconds: f64, tasks: &BTreeSet<i32>, Waits { ns, held, lost, .. }: Waits) -> Self {
        let count = ns.len();
        let carried = |share: f64| (1.0 - share) * count as f64 >= BEYOND;
        // The longest come first.
        let of = |share: f64| ns.get(((1.0 - share) * count as f64).round() as usize).copied();
        let shares = SHARES.iter().filter(|(_, share)| carried(*share));
        Self {
            format: 1,
            pid,
            seconds,
            threads: tasks.len(),
            wakeups: count,
            percentiles_ns: shares.filter_map(|(word, share)| Some((*word, of(*share)?))).collect(),
            longest_ns: ns.first().copied(),
            held_ns: held,
            lost,
        }
    }

    /// As JSON, one line.
    pub(crate) fn json(&self) -> String {
        json_line(self)
    }

    /// For people.
    pub(crate) fn text(&self, style: Style) -> String {
        let time = |ns: u64| Quantity::TIME.amount(ns as f64);
        let count = grouped(self.wakeups as i64);
        let lost = if self.lost > 0 { format!("; {} events were lost", self.lost) } else { String::new() };
        let seen =
            format!("process {}, {} threads, {:.1} s: {count} wake-ups{lost}", self.pid, self.threads, self.seconds);
        let Some(longest) = self.longest_ns else { return style.sealed(&wrapped("", &seen, style)) };
        let mut percentiles: Vec<(&&str, &u64)> = self.percentiles_ns.iter().collect();
        percentiles.sort_by_key(|(_, ns)| **ns);
        let mut figures: Vec<String> = percentiles.iter().map(|(word, ns)| format!("{word} {}", time(**ns))).collect();
        figures.push(format!("longest {}", time(longest)));
        let all: u64 = self.held_ns.values().sum();
        let mut held: Vec<(&String, f64)> =
            self.held_ns.iter().map(|(name, ns)| (name, *ns as f64 / all.max(1) as f64)).collect();
        held.retain(|(_, share)| *share >= NAMED);
        held.sort_by(|a, b| b.1.total_cmp(&a.1));
        let held =
            held.iter().map(|(name, share)| format!("{name} {}", percent(*share))).collect::<Vec<_>>().join(", ");
        let longest = LONGEST.min(self.wakeups);
        let answer = style.headline(&format!("{} from waking to running", figures.join(" · ")));
        let lines = [seen, format!("during the {longest} longest waits the CPU had {held}")];
        style.sealed(&(answer + &lines.map(|line| wrapped("", &line, style)).concat()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_need_ten_beyond_and_count_from_the_longest() {
        let waits = |count: u64| Waits { ns: (1..=count).rev().map(|n| n * 1000).collect(), ..Waits::default() };
        let of = |count| Wakeups::new(7, 1.0, &[7].into(), waits(count));
        let few = of(150);
        assert_eq!(few.percentiles_ns, [("p50", 75_000), ("p90", 135_000)].into());
        assert_eq!((few.longest_ns, of(0).longest_ns), (Some(150_000), None));
        assert!(of(0).text(Style::PLAIN).contains("0 wake-ups"));
        let mut held = few;
        held.held_ns = [("redis-server".to_owned(), 98), ("x".to_owned(), 1), ("kworker".to_owned(), 1)].into();
        let text = held.text(Style::PLAIN);
        assert!(text.starts_with("p50 75.0 µs · p90 135 µs · longest 150 µs from waking to running"), "{text}");
        assert!(text.contains("the CPU had redis-server 98 %") && !text.contains("kworker"), "{text}");
    }
}
