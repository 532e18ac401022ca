//! Tasks that wait for times which were fixed beforehand: the host sets their class, and puts hogs
//! beside them.

use super::part::HostPart;
use crate::Obstacle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const PART: HostPart = HostPart {
    name: "wakeup",
    parameters: &["hogs", "hog_kind", "hog_class", "hog_slice", "class", "nice", "slice", "stop_at"],
    samples: &[],
};

/// Period, waiter and hogs of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Between two intended times, ns.
    pub period_ns: u64,
    /// The times are drawn, not on a grid of periods.
    pub drawn: bool,
    /// Class of the probe's tasks.
    pub class: String,
    /// Their nice value.
    pub nice: i32,
    /// Their slice, ns; 0: the kernel's own.
    pub slice_ns: u64,
    /// Hogs of each CPU.
    pub hogs: u64,
    /// Hogs fork and sleep; otherwise they compute.
    pub forking: bool,
    /// Class of the hogs.
    pub hog_class: String,
    /// Their slice, ns; 0: the kernel's own.
    pub hog_slice_ns: u64,
    /// Lateness that ends the row, ns; 0: none does.
    pub stop_ns: u64,
    /// Part of a CPU that the work takes which each time brings with it; 0: it brings none.
    pub work: f64,
    /// A latency ends when that work begins, not when it is finished.
    pub until_begun: bool,
}

impl Load {
    /// What these parameters ask for; what is not named is as usual.
    #[must_use]
    pub fn of(parameters: &BTreeMap<String, String>) -> Self {
        let word = |name: &str| parameters.get(name).cloned();
        let number = |name: &str| word(name).and_then(|value| value.parse::<u64>().ok()).unwrap_or(0);
        let class = |name: &str| word(name).unwrap_or_else(|| "other".to_owned());
        Self {
            period_ns: number("period").saturating_mul(1000),
            drawn: word("phase").as_deref() == Some("drawn"),
            class: class("class"),
            nice: word("nice").and_then(|value| value.parse().ok()).unwrap_or(0),
            slice_ns: number("slice").saturating_mul(1000),
            hogs: number("hogs"),
            forking: word("hog_kind").as_deref() == Some("fork"),
            hog_class: class("hog_class"),
            hog_slice_ns: number("hog_slice").saturating_mul(1000),
            stop_ns: number("stop_at").saturating_mul(1000),
            work: number("load") as f64 / 100.0,
            until_begun: word("until").as_deref() == Some("begun"),
        }
    }

    /// The tasks have neither a class nor a nice value nor a slice of their own.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        self.class == "other" && self.nice == 0 && self.slice_ns == 0
    }
}

/// How the tasks of a probe were scheduled while its units took place, as the kernel told the host,
/// and the load that the host put beside them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Scheduled {
    /// Classes of its tasks, at the plan and when the figures arrived.
    pub classes: BTreeSet<String>,
    /// Nice values, likewise.
    pub nices: BTreeSet<i32>,
    /// Slices, ns; 0: the kernel's own, or not told.
    pub slices_ns: BTreeSet<u64>,
    /// Where in the kernel they waited.
    pub channels: BTreeSet<String>,
    /// Time that they waited for a CPU between the two looks, ns; None: the kernel does not count
    /// it.
    pub waited_ns: Option<u64>,
    /// Between the two looks, ns.
    pub between_ns: u64,
    /// Hogs that were asked for.
    pub hogs: u64,
    /// Somebody had stopped a hog when the figures arrived.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hogs_stopped: bool,
    /// CPU time of the hogs between the two looks, ns.
    pub hogs_cpu_ns: u64,
    /// From the start of the process until the hogs had been released and the classes set, ns;
    /// None: a reason in its place.
    pub loaded_ns: Option<u64>,
    /// Why the load or the class that was asked for could not be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Obstacle>,
    /// The hogs were ended because the probe had not come to its end long after the last intended
    /// time.
    pub cut: bool,
    /// For whom its tasks waited. A start that was traced for this is in no figure, unless every
    /// start of its row is; None: it was not to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
    /// What came of the lateness that ends the row; None: none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LateLimit>,
}

/// A lateness that ends a row, and whether a start had it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LateLimit {
    /// The lateness, ns.
    pub ns: u64,
    /// Measured wake-ups of the start.
    pub wakes: u64,
    /// The latest of them, as the probe tells, ns.
    pub latest_ns: u64,
    /// The latest one that was traced, if the start ended the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced: Option<TracedWake>,
}

impl LateLimit {
    /// The row ends with this start.
    #[must_use]
    pub fn exceeded(&self) -> bool {
        self.latest_ns > self.ns
    }
}

/// A wake-up, and what went on around it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TracedWake {
    /// The time that its timer was set for, or when a partner woke it, ns since 1970 UTC.
    pub unix_ns: i64,
    /// Where it ran.
    pub cpu: u32,
    /// It had a timer of its own; otherwise only its wait is known.
    pub by_timer: bool,
    /// Its parts.
    pub wake: LateWake,
    /// What happened on that CPU, and to the task elsewhere, in order.
    pub events: Vec<TracedEvent>,
    /// Events in the middle of these that are not kept.
    #[serde(default)]
    pub left_out: u64,
}

/// Something that the kernel did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct TracedEvent {
    /// After the time of the wake-up, ns; negative: ahead of it.
    pub ns: i64,
    /// Where.
    pub cpu: u32,
    /// In words.
    pub what: String,
}

/// For whom tasks of a probe waited for a CPU, as the kernel's tracepoints tell.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Tail {
    /// Times that one of them was woken and then ran.
    pub wakes: u64,
    /// The longest of these waits, ns, the longest first.
    pub longest_ns: Vec<u64>,
    /// Who had the CPU in these, task, interrupt or softirq → ns.
    pub held: BTreeMap<String, u64>,
    /// Wake-ups by a timer that were latest, the latest first; empty where its tasks wait
    /// otherwise, or timers cannot be traced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<LateWake>,
    /// Events of the scheduler that the kernel did not keep, a few at most.
    #[serde(default)]
    pub lost: u64,
    /// Why nothing of this is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Obstacle>,
}

/// A wake-up by a timer, from the time that it was set for until the task was back from its system
/// call. The parts add up to the whole.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LateWake {
    /// From that time until the timer's interrupt, ns.
    pub interrupt_ns: u64,
    /// The idle state in which the CPU was at that time; None: it ran something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<String>,
    /// From the interrupt until the task was woken, ns.
    pub handler_ns: u64,
    /// From waking to running, ns.
    pub waited_ns: u64,
    /// Who had the CPU meanwhile, task, interrupt or softirq → ns.
    pub held: BTreeMap<String, u64>,
    /// From running to the end of the system call, ns.
    pub returned_ns: u64,
}

impl LateWake {
    /// All parts, ns.
    #[must_use]
    pub fn late_ns(&self) -> u64 {
        [self.interrupt_ns, self.handler_ns, self.waited_ns, self.returned_ns].into_iter().fold(0, u64::saturating_add)
    }
}
