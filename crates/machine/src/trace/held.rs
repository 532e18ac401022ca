//! From events of tracepoints to who held a CPU.

use std::collections::{BTreeMap, BTreeSet};

/// Something that the kernel did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// When, ns of one clock.
    pub at: u64,
    /// Where.
    pub cpu: u32,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "no other system is traced"))]
pub(crate) enum What {
    /// A task is to run, wherever.
    Woken { task: i32 },
    /// The CPU goes from one task to another.
    Switched { from: (i32, String), to: (i32, String) },
    /// An interrupt or a softirq begins on top of the task.
    Interrupted(String),
    /// It ends.
    Resumed,
}

/// A task that was to run and did not yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    pub from: u64,
    pub to: u64,
    pub cpu: u32,
}

impl Wait {
    pub(super) fn lasted(&self) -> u64 {
        self.to.saturating_sub(self.from)
    }
}

/// What of these tasks waited, from waking to running.
pub(super) fn waits(events: &[Event], tasks: &BTreeSet<i32>) -> Vec<Wait> {
    let mut woken: BTreeMap<i32, u64> = BTreeMap::new();
    let mut waits = Vec::new();
    for Event { at, cpu, what } in events {
        match what {
            What::Woken { task } if tasks.contains(task) => {
                woken.entry(*task).or_insert(*at);
            }
            What::Switched { to: (task, _), .. } => {
                waits.extend(woken.remove(task).map(|from| Wait { from, to: *at, cpu: *cpu }));
            }
            _ => {}
        }
    }
    waits
}

/// Divides a wait among those who had the CPU meanwhile.
pub(super) fn add(held: &mut BTreeMap<String, u64>, events: &[Event], wait: &Wait) {
    let named = |(task, name): &(i32, String)| match task {
        0 => "the idle CPU".to_owned(),
        _ => name.clone(),
    };
    let mut task: Option<String> = None;
    let mut above: Vec<&str> = Vec::new();
    let mut since = wait.from;
    for event in events.iter().filter(|event| event.cpu == wait.cpu) {
        let before = match &event.what {
            What::Switched { from, .. } => Some(named(from)),
            _ => task.clone(),
        };
        let holder = above.last().map(|name| (*name).to_owned()).or(before);
        if event.at > since && since < wait.to {
            let until = event.at.min(wait.to);
            *held.entry(holder.unwrap_or_else(|| "not traced".to_owned())).or_default() += until - since;
            since = until;
        }
        match &event.what {
            What::Switched { to, .. } => {
                task = Some(named(to));
                // None lasts longer than the task that it interrupted; the end of one may be lost.
                above.clear();
            }
            What::Interrupted(name) => above.push(name),
            What::Resumed => drop(above.pop()),
            What::Woken { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: u64, what: What) -> Event {
        Event { at, cpu: 1, what }
    }

    fn switched(from: (i32, &str), to: (i32, &str)) -> What {
        What::Switched { from: (from.0, from.1.into()), to: (to.0, to.1.into()) }
    }

    #[test]
    fn a_wait_goes_from_waking_to_running_and_is_divided_among_those_who_ran() {
        let events = [
            event(0, switched((0, "swapper/1"), (7, "probe"))),
            event(10, switched((7, "probe"), (8, "switchcost-hog"))),
            event(100, What::Woken { task: 7 }),
            // Woken again: it counts from the first.
            event(110, What::Woken { task: 7 }),
            Event { at: 115, cpu: 0, what: switched((0, "swapper/0"), (9, "other")) },
            event(120, What::Interrupted("softirq timer".into())),
            event(150, What::Resumed),
            event(200, switched((8, "switchcost-hog"), (5, "kworker/1:1"))),
            event(230, switched((5, "kworker/1:1"), (7, "probe"))),
            event(240, switched((7, "probe"), (0, "swapper/1"))),
            event(300, What::Woken { task: 7 }),
            event(320, switched((0, "swapper/1"), (7, "probe"))),
            event(330, What::Woken { task: 99 }),
        ];
        let waits = waits(&events, &[7].into());
        assert_eq!(waits, [Wait { from: 100, to: 230, cpu: 1 }, Wait { from: 300, to: 320, cpu: 1 }]);
        let of = |wait: &Wait| {
            let mut held = BTreeMap::new();
            add(&mut held, &events, wait);
            held.into_iter().collect::<Vec<_>>()
        };
        let expected = [("kworker/1:1", 30), ("softirq timer", 30), ("switchcost-hog", 70)];
        assert_eq!(of(&waits[0]), expected.map(|(name, ns)| (name.to_owned(), ns)));
        assert_eq!(of(&waits[1]), [("the idle CPU".to_owned(), 20)]);
    }

    #[test]
    fn what_ran_before_the_first_event_is_told_by_the_switch_that_ends_it() {
        let events = [event(5, What::Woken { task: 7 }), event(9, switched((4, "cc1"), (7, "probe")))];
        let mut held = BTreeMap::new();
        add(&mut held, &events, &waits(&events, &[7].into())[0]);
        assert_eq!(held, [("cc1".to_owned(), 4)].into());
    }
}
