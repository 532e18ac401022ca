//! Who held a CPU while a task waited for it, from the kernel's tracepoints.

mod held;

use crate::os;
use crate::spawn::Child;
use std::collections::BTreeMap;
use switchcost_model::Tail;

pub(crate) use held::{Event, What};

/// Waits whose time is divided among those who held the CPU.
pub const LONGEST: usize = 10;

/// What goes on on some CPUs. It ends when it is dropped, also with the host.
#[derive(Debug)]
pub struct Trace(os::trace::Trace);

impl Trace {
    /// Begins on these CPUs.
    ///
    /// # Errors
    /// What it needs.
    pub fn begin(cpus: &[u32]) -> Result<Self, String> {
        os::trace::Trace::begin(cpus).map(Self)
    }

    /// Ends it: how long tasks of the child waited for a CPU, and for whom.
    #[must_use]
    pub fn end(self, child: &Child) -> Tail {
        let events = match self.0.end() {
            Ok(events) => events,
            Err(why) => return Tail { unknown: Some(why), ..Tail::default() },
        };
        let tasks = child.tasks();
        let mut waits = held::waits(&events, &tasks);
        let wakes = waits.len() as u64;
        waits.sort_by_key(|wait| std::cmp::Reverse(wait.lasted()));
        waits.truncate(LONGEST);
        let mut held = BTreeMap::new();
        for wait in &waits {
            held::add(&mut held, &events, wait);
        }
        Tail { wakes, longest_ns: waits.iter().map(held::Wait::lasted).collect(), held, unknown: None }
    }
}
