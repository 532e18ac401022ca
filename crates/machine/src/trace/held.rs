//! From events of tracepoints to who held a CPU.

use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::{LateWake, TracedEvent, TracedWake};

/// How long before a wake-up its trace begins, and how long after it the trace ends, ns.
const BEFORE_NS: u64 = 100_000;
const AFTER_NS: u64 = 20_000;

/// Events of a trace that are kept at its beginning, and as many at its end.
const KEPT: usize = 12;

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
    /// A task sets a timer for a time, ns of the same clock.
    TimerSet { task: i32, timer: u64, due: u64 },
    /// The interrupt of that timer is here.
    TimerFired { timer: u64 },
    /// The CPU enters an idle state; None: it leaves it.
    Idle { state: Option<u32> },
    /// A task is at the end of the system call in which it slept.
    Returned { task: i32 },
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
            _ => {}
        }
    }
}

/// How far a wake-up by a timer has come.
#[derive(Default)]
struct Chain {
    timer: u64,
    due: u64,
    fired: Option<u64>,
    idle: Option<u32>,
    woken: Option<u64>,
    ran: Option<(u64, u32)>,
}

/// A whole wake-up and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Late {
    pub wake: LateWake,
    /// From the time that the timer was set for to the end of the system call, or, woken by a
    /// partner, from waking to running.
    pub whole: Wait,
    pub by_timer: bool,
}

impl Late {
    /// Of a task whose partner woke it: this wait is all of it.
    pub(super) fn woken(events: &[Event], wait: Wait) -> Self {
        let mut wake = LateWake { waited_ns: wait.lasted(), ..LateWake::default() };
        add(&mut wake.held, events, &wait);
        Self { wake, whole: wait, by_timer: false }
    }

    /// With what happened around it. `unix`: what is added to the clock of events for the time
    /// since 1970.
    pub(super) fn traced(
        &self,
        events: &[Event],
        tasks: &BTreeSet<i32>,
        unix: i64,
        state: impl Fn(u32, u32) -> String,
    ) -> TracedWake {
        let Wait { from, to, cpu } = self.whole;
        let near = from.saturating_sub(BEFORE_NS)..=to.saturating_add(AFTER_NS);
        let here = |event: &&Event| near.contains(&event.at) && (event.cpu == cpu || event.what.is_of(tasks));
        let told = |event: &Event| {
            let what = event.what.told(tasks, |number| state(event.cpu, number))?;
            Some(TracedEvent { ns: event.at.wrapping_sub(from) as i64, cpu: event.cpu, what })
        };
        let mut around: Vec<TracedEvent> = events.iter().filter(here).filter_map(told).collect();
        let left_out = around.len().saturating_sub(2 * KEPT);
        if left_out > 0 {
            around.drain(KEPT..KEPT + left_out);
        }
        TracedWake {
            unix_ns: unix.saturating_add_unsigned(from),
            cpu,
            by_timer: self.by_timer,
            wake: self.wake.clone(),
            events: around,
            left_out: left_out as u64,
        }
    }
}

impl What {
    /// It is about one of these tasks.
    fn is_of(&self, tasks: &BTreeSet<i32>) -> bool {
        match self {
            Self::Woken { task } | Self::TimerSet { task, .. } | Self::Returned { task } => tasks.contains(task),
            Self::Switched { from: (from, _), to: (to, _) } => tasks.contains(from) || tasks.contains(to),
            Self::Interrupted(_) | Self::Resumed | Self::TimerFired { .. } | Self::Idle { .. } => false,
        }
    }

    /// In words; None: it says nothing of these tasks or of who had the CPU.
    fn told(&self, tasks: &BTreeSet<i32>, state: impl Fn(u32) -> String) -> Option<String> {
        let named =
            |(task, name): &(i32, String)| if *task == 0 { "idle".to_owned() } else { format!("{name} ({task})") };
        Some(match self {
            Self::Woken { task } if tasks.contains(task) => format!("task {task} is woken"),
            Self::TimerSet { task, .. } if tasks.contains(task) => format!("task {task} sets its timer"),
            Self::Returned { task } if tasks.contains(task) => format!("task {task} is back from its call"),
            Self::Woken { .. } | Self::TimerSet { .. } | Self::Returned { .. } => return None,
            Self::Switched { from, to } => format!("{} → {}", named(from), named(to)),
            Self::Interrupted(name) => format!("{name} begins"),
            Self::Resumed => "it ends".to_owned(),
            Self::TimerFired { .. } => "a timer's interrupt".to_owned(),
            Self::Idle { state: Some(number) } => format!("enters idle state {}", state(*number)),
            Self::Idle { state: None } => "leaves the idle state".to_owned(),
        })
    }
}

/// Whole wake-ups of these tasks by timers, from the time that was set to the end of the system
/// call, the latest so many of them, the latest first. `state`: the name of an idle state of a CPU,
/// by its number.
pub(super) fn latest(
    events: &[Event],
    tasks: &BTreeSet<i32>,
    most: usize,
    state: impl Fn(u32, u32) -> String,
) -> Vec<Late> {
    let mut chains: BTreeMap<i32, Chain> = BTreeMap::new();
    // Of each CPU the last idle state, when it was entered and when it was left.
    let mut idle: BTreeMap<u32, (u32, u64, u64)> = BTreeMap::new();
    let mut late = Vec::new();
    for Event { at, cpu, what } in events {
        match what {
            What::TimerSet { task, timer, due } if tasks.contains(task) => {
                chains.insert(*task, Chain { timer: *timer, due: *due, ..Chain::default() });
            }
            What::Idle { state: Some(state) } => drop(idle.insert(*cpu, (*state, *at, u64::MAX))),
            What::Idle { state: None } => {
                idle.entry(*cpu).and_modify(|(_, _, left)| *left = *at);
            }
            What::TimerFired { timer } => {
                for chain in chains.values_mut().filter(|chain| chain.timer == *timer && chain.fired.is_none()) {
                    chain.fired = Some(*at);
                    let was = idle.get(cpu).filter(|(_, entered, left)| *entered <= chain.due && *left >= chain.due);
                    chain.idle = was.map(|(state, ..)| *state);
                }
            }
            What::Woken { task } => {
                let chain = chains.get_mut(task).filter(|chain| chain.fired.is_some());
                chain.into_iter().for_each(|chain| _ = chain.woken.get_or_insert(*at));
            }
            What::Switched { to: (task, _), .. } => {
                let chain = chains.get_mut(task).filter(|chain| chain.woken.is_some());
                chain.into_iter().for_each(|chain| _ = chain.ran.get_or_insert((*at, *cpu)));
            }
            What::Returned { task } => {
                let Some(chain) = chains.remove(task) else { continue };
                let (Some(fired), Some(woken), Some((ran, cpu))) = (chain.fired, chain.woken, chain.ran) else {
                    continue;
                };
                let wake = LateWake {
                    interrupt_ns: fired.saturating_sub(chain.due),
                    idle: chain.idle.map(|number| state(cpu, number)),
                    handler_ns: woken.saturating_sub(fired),
                    waited_ns: ran.saturating_sub(woken),
                    held: BTreeMap::new(),
                    returned_ns: at.saturating_sub(ran),
                };
                let whole = Wait { from: chain.due, to: *at, cpu };
                late.push((Late { wake, whole, by_timer: true }, Wait { from: woken, to: ran, cpu }));
            }
            _ => {}
        }
    }
    late.sort_by_key(|(late, _)| std::cmp::Reverse(late.wake.late_ns()));
    late.truncate(most);
    let divided = |(mut late, wait): (Late, Wait)| {
        add(&mut late.wake.held, events, &wait);
        late
    };
    late.into_iter().map(divided).collect()
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
    fn a_late_wake_up_adds_up_from_its_time_to_the_end_of_the_call() {
        let set = |due| What::TimerSet { task: 7, timer: 0xff, due };
        let events = [
            event(50, set(100)),
            event(60, switched((7, "probe"), (0, "swapper/1"))),
            event(70, What::Idle { state: Some(1) }),
            // The CPU is idle at the time; the interrupt comes before the state is left.
            event(130, What::TimerFired { timer: 0xff }),
            event(140, What::Woken { task: 7 }),
            event(145, What::Idle { state: None }),
            event(150, switched((0, "swapper/1"), (7, "probe"))),
            event(157, What::Returned { task: 7 }),
            // Something runs at the time, and for longer; another task's timer is none of it.
            event(160, set(200)),
            event(165, switched((7, "probe"), (8, "cc1"))),
            event(190, What::TimerFired { timer: 0xfe }),
            event(205, What::TimerFired { timer: 0xff }),
            event(206, What::Woken { task: 7 }),
            event(1000, switched((8, "cc1"), (7, "probe"))),
            event(1003, What::Returned { task: 7 }),
            // One whose beginning was not traced has no time.
            event(1010, What::Woken { task: 7 }),
            event(1020, What::Returned { task: 7 }),
        ];
        let state = |cpu: u32, state: u32| format!("state {state} of CPU {cpu}");
        let all = latest(&events, &[7].into(), 10, state);
        let found: Vec<LateWake> = all.iter().map(|late| late.wake.clone()).collect();
        let wake = |[interrupt_ns, handler_ns, waited_ns, returned_ns]: [u64; 4],
                    idle: Option<&str>,
                    held: (&str, u64)| LateWake {
            interrupt_ns,
            idle: idle.map(str::to_owned),
            handler_ns,
            waited_ns,
            held: [(held.0.to_owned(), held.1)].into(),
            returned_ns,
        };
        let late = wake([5, 1, 794, 3], None, ("cc1", 794));
        let early = wake([30, 10, 10, 7], Some("state 1 of CPU 1"), ("the idle CPU", 10));
        assert_eq!((late.late_ns(), early.late_ns()), (803, 57));
        assert_eq!(found, [late.clone(), early]);
        assert_eq!(latest(&events, &[7].into(), 1, |_, _| String::new()), [all[0].clone()]);
        assert!(latest(&events, &[9].into(), 9, |_, _| String::new()).is_empty());
        let traced = all[0].traced(&events, &[7].into(), 1_000_000, state);
        assert_eq!((traced.unix_ns, traced.cpu, traced.by_timer, traced.left_out), (1_000_200, 1, true, 0));
        let told: Vec<(i64, &str)> = traced.events.iter().map(|event| (event.ns, event.what.as_str())).collect();
        let expected = [
            (-150, "task 7 sets its timer"),
            (-140, "probe (7) → idle"),
            (-130, "enters idle state state 1 of CPU 1"),
            (-70, "a timer's interrupt"),
            (-60, "task 7 is woken"),
            (-55, "leaves the idle state"),
            (-50, "idle → probe (7)"),
            (-43, "task 7 is back from its call"),
            (-40, "task 7 sets its timer"),
            (-35, "probe (7) → cc1 (8)"),
            (-10, "a timer's interrupt"),
            (5, "a timer's interrupt"),
            (6, "task 7 is woken"),
            (800, "cc1 (8) → probe (7)"),
            (803, "task 7 is back from its call"),
            (810, "task 7 is woken"),
            (820, "task 7 is back from its call"),
        ];
        assert_eq!(told, expected);
        // A long trace keeps both ends; what happens elsewhere to others is none of it.
        let busy = |at| Event { at, cpu: 1, what: What::Interrupted("softirq rcu".into()) };
        let elsewhere = Event { at: 300, cpu: 0, what: switched((9, "other"), (0, "swapper/0")) };
        let many: Vec<Event> = events.iter().cloned().chain((300..400).map(busy)).chain([elsewhere]).collect();
        let traced = all[0].traced(&many, &[7].into(), 0, state);
        assert_eq!((traced.events.len(), traced.left_out), (24, 93));
        assert!(traced.events.iter().all(|event| event.cpu == 1));
        // Of one that a partner woke the wait is all that is known.
        let woken = Late::woken(&events, Wait { from: 206, to: 1000, cpu: 1 });
        assert_eq!((woken.wake.late_ns(), woken.by_timer, &woken.wake.held), (794, false, &late.held));
    }

    #[test]
    fn what_ran_before_the_first_event_is_told_by_the_switch_that_ends_it() {
        let events = [event(5, What::Woken { task: 7 }), event(9, switched((4, "cc1"), (7, "probe")))];
        let mut held = BTreeMap::new();
        add(&mut held, &events, &waits(&events, &[7].into())[0]);
        assert_eq!(held, [("cc1".to_owned(), 4)].into());
    }
}
