//! What can be seen from outside the contexts: the kernel's counts, page faults, CPUs.

use crate::os::{current_cpu, current_thread, usage, Usage};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;

/// Turns as the contexts counted them.
#[derive(Debug, Clone, Default, Serialize, PartialEq, Eq)]
pub struct Turns {
    /// Sum over contexts.
    pub total: u64,
    /// Fewest turns of a context.
    pub min: u64,
    /// Most turns of a context.
    pub max: u64,
    /// Number of contexts.
    pub contexts: u64,
}

impl Turns {
    /// Adds one context's turns.
    pub fn count(&mut self, turns: u64) {
        self.min = if self.contexts == 0 { turns } else { self.min.min(turns) };
        self.max = self.max.max(turns);
        self.total += turns;
        self.contexts += 1;
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Kernel {
    pub(crate) voluntary: u64,
    pub(crate) involuntary: u64,
    tasks: usize,
    source: &'static str,
}

#[derive(Debug, Serialize)]
pub(crate) struct PageFaults {
    minor: i64,
    major: i64,
}

/// A reading before the first batch or after the last.
pub(crate) struct Observed {
    /// Thread → voluntary, involuntary. None where the kernel does not tell.
    tasks: Option<BTreeMap<String, (u64, u64)>>,
    usage: Option<Usage>,
}

impl Observed {
    /// Reads the CPU time last: to read the threads takes longer than short batches.
    pub(crate) fn begin() -> Self {
        Self { tasks: read_tasks(), usage: usage() }
    }

    /// Reads the CPU time first.
    pub(crate) fn end() -> Self {
        let usage = usage();
        Self { usage, tasks: read_tasks() }
    }

    /// The kernel's switches since `begin`, or why they cannot be told. A thread that began in
    /// between counts from zero; one that ended took its counts with it, which must not be hidden.
    pub(crate) fn kernel_since(&self, begin: &Self) -> Result<Kernel, &'static str> {
        let (Some(before), Some(after)) = (&begin.tasks, &self.tasks) else {
            return Err("the kernel's counts of each thread cannot be read on this system");
        };
        if before.keys().any(|id| !after.contains_key(id)) {
            return Err("a thread ended during the batches and took its counts with it");
        }
        let mut kernel = Kernel { voluntary: 0, involuntary: 0, tasks: after.len(), source: "proc_task_status" };
        for (id, end) in after {
            let begin = before.get(id).copied().unwrap_or_default();
            kernel.voluntary += end.0 - begin.0;
            kernel.involuntary += end.1 - begin.1;
        }
        Ok(kernel)
    }

    pub(crate) fn faults_since(&self, begin: &Self) -> Option<PageFaults> {
        let (before, after) = (begin.usage?, self.usage?);
        Some(PageFaults {
            minor: after.minor_faults - before.minor_faults,
            major: after.major_faults - before.major_faults,
        })
    }

    /// CPU time of all threads since `begin`.
    pub(crate) fn cpu_ns_since(&self, begin: &Self) -> Option<i64> {
        Some(self.usage?.cpu_ns - begin.usage?.cpu_ns)
    }
}

fn read_tasks() -> Option<BTreeMap<String, (u64, u64)>> {
    let mut tasks = BTreeMap::new();
    for entry in fs::read_dir("/proc/self/task").ok()? {
        let entry = entry.ok()?;
        // A thread that has ended since the folder was read is no longer there.
        let Ok(status) = fs::read_to_string(entry.path().join("status")) else { continue };
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok();
        let counts = (field("voluntary_ctxt_switches:")?, field("nonvoluntary_ctxt_switches:")?);
        tasks.insert(entry.file_name().to_string_lossy().into_owned(), counts);
    }
    Some(tasks)
}

/// How many of these pieces of memory begin behind the end of all that begin before them: all, if
/// none overlap.
#[must_use]
pub fn disjoint(mut pieces: Vec<Range<usize>>) -> i64 {
    pieces.sort_by_key(|piece| piece.start);
    let mut end = 0;
    pieces.iter().fold(0, |count, piece| {
        let apart = i64::from(piece.start >= end);
        end = end.max(piece.end);
        count + apart
    })
}

/// Record of the verification pass: who had the token, on which CPU and thread, indexed by the
/// token's sequence number.
#[derive(Debug)]
pub struct Trace {
    visits: Vec<Visit>,
}

#[derive(Debug, Clone, Copy)]
struct Visit {
    who: u32,
    cpu: Option<u32>,
    thread: Option<i32>,
}

#[derive(Debug, Serialize, PartialEq, Eq)]
pub(crate) struct Hops {
    pub(crate) count: u64,
    pub(crate) in_order: u64,
    pub(crate) same_cpu: u64,
    /// None where a thread cannot tell its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) same_thread: Option<u64>,
    /// Always false: this pass comes after the timed batches, by the same contexts.
    pub(crate) timed: bool,
}

impl Trace {
    /// Room for switches 1 … units and for where the token began.
    #[must_use]
    pub fn new(units: u64) -> Box<Self> {
        Box::new(Self { visits: vec![Visit { who: u32::MAX, cpu: None, thread: None }; units as usize + 1] })
    }

    /// Called by a context that came to run with the token.
    pub fn visit(&mut self, sequence: u64, context: u64) {
        if let Some(visit) = usize::try_from(sequence).ok().and_then(|i| self.visits.get_mut(i)) {
            *visit = Visit { who: context as u32, cpu: current_cpu(), thread: current_thread() };
        }
    }

    /// Whether every context of a ring of `ring` had the token when it was due; true where CPUs
    /// cannot be told.
    #[must_use]
    pub fn in_order(&self, ring: u64) -> bool {
        self.judge(ring, &mut BTreeSet::new()).is_none_or(|(hops, _)| hops.in_order == hops.count)
    }

    /// Compares every hop with the one before it, in a ring of `ring` contexts. `seen` collects
    /// CPUs. None where a thread cannot tell its CPU.
    pub(crate) fn judge(&self, ring: u64, seen: &mut BTreeSet<u32>) -> Option<(Hops, u64)> {
        let mut hops = Hops { count: 0, in_order: 0, same_cpu: 0, same_thread: Some(0), timed: false };
        let mut migrations = 0;
        let mut last: Vec<Option<u32>> = vec![None; ring as usize];
        for (i, &Visit { who, cpu, thread }) in self.visits.iter().enumerate() {
            seen.insert(cpu?);
            if let Some(last) = last.get_mut(who as usize) {
                migrations += u64::from(last.is_some() && *last != cpu);
                *last = cpu;
            }
            if i > 0 {
                let before = self.visits[i - 1];
                hops.count += 1;
                hops.in_order += u64::from(u64::from(who) == (u64::from(before.who) + 1) % ring);
                hops.same_cpu += u64::from(cpu == before.cpu);
                hops.same_thread = thread.and(hops.same_thread).map(|same| same + u64::from(thread == before.thread));
            }
        }
        Some((hops, migrations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_counts_hops() {
        let visit = |(who, cpu, thread)| Visit { who, cpu: Some(cpu), thread: Some(thread) };
        let visits = [(0, 0, 7), (1, 0, 8), (2, 1, 8), (0, 1, 7), (2, 1, 9)].map(visit);
        let mut seen = BTreeSet::new();
        let (hops, migrations) = Trace { visits: visits.to_vec() }.judge(3, &mut seen).unwrap();
        let expected = Hops { count: 4, in_order: 3, same_cpu: 3, same_thread: Some(1), timed: false };
        assert_eq!((hops, migrations), (expected, 1));
        assert_eq!(seen.len(), 2);
        let blind = visits.map(|visit| Visit { thread: None, ..visit });
        assert_eq!(Trace { visits: blind.to_vec() }.judge(3, &mut seen).unwrap().0.same_thread, None);
    }

    #[test]
    fn what_overlaps_is_counted_once() {
        assert_eq!(disjoint(vec![20..30, 0..10, 10..20]), 3);
        assert_eq!(disjoint(vec![0..10, 0..10, 5..15, 12..13]), 1);
        assert_eq!(disjoint(vec![]), 0);
    }
}
