//! For whom the tasks of a row waited longest.

use crate::series::longest_ns;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::{
    Disturbance, Invocation, LateWake, Quantity, Remark, Scheduled, Seen, Tail, Throttle, Value, remark,
};

/// Who had the CPU is named down to this share of the waits.
const NAMED: f64 = 0.02;

/// Share of the probe's own longest latency that the trace may leave unexplained without a word.
pub(super) const UNEXPLAINED: f64 = 0.1;

/// As the host calls it, and what it is where a quota stopped the tasks.
const IDLE: &str = "the idle CPU";
const NO_QUOTA: &str = "nobody, since the control group's quota had run out,";

/// What a start was traced for, which takes time: it is in no figure.
pub(super) fn traced(seen: &Seen) -> Option<&Tail> {
    let tail = seen.part.scheduled.as_ref()?.tail.as_ref()?;
    Some(tail).filter(|tail| tail.unknown.is_none())
}

/// What is known of the longest waits of a row's starts; None: it has none.
pub(super) fn waits(starts: &[&Invocation]) -> Option<Remark> {
    let seen = || starts.iter().filter_map(|start| start.seen.as_ref());
    let of = starts.iter().find_map(|start| Some((*start, traced(start.seen.as_ref()?)?)));
    let Some((start, tail)) = of else {
        return seen().filter_map(|seen| seen.part.scheduled.as_ref()).find_map(unknown);
    };
    let quota = throttled(start);
    if !tail.late.is_empty() {
        return Some(late(tail, quota, longest_ns(&start.transcript)));
    }
    let (Some(longest), Some(shortest)) = (tail.longest_ns.first(), tail.longest_ns.last()) else {
        return Some(remark!(none_waited));
    };
    let held = shares(tail.held.iter(), quota);
    let (shortest, longest) = (time(*shortest), time(*longest));
    Some(remark!(waits, wakes = tail.wakes, count = tail.longest_ns.len(), shortest, longest, held))
}

/// The control group's own quota stopped its tasks.
pub(super) fn throttled(start: &Invocation) -> bool {
    start.disturbances.iter().any(|one| matches!(one, Disturbance::Throttled(Throttle::Quota { .. })))
}

pub(super) fn time(ns: u64) -> Value {
    Value::Amount(ns as f64, Quantity::TIME)
}

/// Who had the CPU, each with its share of the time, the largest first. `quota`: one had stopped
/// the tasks.
pub(super) fn shares<'a>(held: impl Iterator<Item = (&'a String, &'a u64)>, quota: bool) -> String {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, ns) in held {
        *sums.entry(name).or_default() += ns;
    }
    let all: u64 = sums.values().sum();
    let share = |ns: u64| ns as f64 / all.max(1) as f64;
    let mut named: Vec<(&str, u64)> = sums.into_iter().filter(|(_, ns)| share(*ns) >= NAMED).collect();
    named.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    let idle = |name: &str| if quota && name == IDLE { NO_QUOTA.to_owned() } else { name.to_owned() };
    let named = named.into_iter().map(|(name, ns)| format!("{} {}", idle(name), Value::Percent(share(ns))));
    named.collect::<Vec<_>>().join(", ")
}

/// The latest wake-ups, part by part, beside the probe's own latest.
fn late(tail: &Tail, quota: bool, own: Option<f64>) -> Remark {
    let sum = |part: fn(&LateWake) -> u64| tail.late.iter().map(part).fold(0, u64::saturating_add);
    let all = sum(LateWake::late_ns).max(1);
    let percent = |ns: u64| Value::Percent(ns as f64 / all as f64).to_string();
    let states: BTreeSet<&str> = tail.late.iter().filter_map(|wake| wake.idle.as_deref()).collect();
    let idle = (!states.is_empty()).then(|| states.into_iter().collect::<Vec<_>>().join(", "));
    let waited = sum(|wake| wake.waited_ns);
    let held = (waited > 0).then(|| shares(tail.late.iter().flat_map(|wake| &wake.held), quota));
    let latest = tail.late.first().map_or(0, LateWake::late_ns);
    let missing = own.map(|own| 1.0 - latest as f64 / own).filter(|share| *share > UNEXPLAINED);
    remark!(
        late,
        count = tail.late.len(),
        shortest = time(tail.late.last().map_or(0, LateWake::late_ns)),
        longest = time(latest),
        interrupt = percent(sum(|wake| wake.interrupt_ns)),
        idle,
        handler = percent(sum(|wake| wake.handler_ns)),
        waited = percent(waited),
        held,
        returned = percent(sum(|wake| wake.returned_ns)),
        missing = missing.map(|share| Value::Percent(share).to_string()),
        own = own.map(|own| Value::Amount(own, Quantity::TIME)),
        lost = (tail.lost > 0).then_some(tail.lost),
    )
}

fn unknown(scheduled: &Scheduled) -> Option<Remark> {
    let why = scheduled.tail.as_ref()?.unknown.as_ref()?.to_string();
    Some(match scheduled.waited_ns {
        None => remark!(waits_unknown, why),
        Some(0) => remark!(none_waited),
        Some(waited) => remark!(waited, waited = time(waited), of = time(scheduled.between_ns), why),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_model::Obstacle;

    fn wake(idle: Option<&str>, [interrupt_ns, handler_ns, waited_ns, returned_ns]: [u64; 4], held: &str) -> LateWake {
        let held = [(held.to_owned(), waited_ns)].into();
        LateWake { interrupt_ns, idle: idle.map(str::to_owned), handler_ns, waited_ns, held, returned_ns }
    }

    #[test]
    fn a_tail_adds_up_and_says_what_it_leaves() {
        let late_ones = vec![wake(None, [0, 0, 6000, 0], "cc1"), wake(Some("C6"), [2000, 400, 1000, 600], IDLE)];
        let tail = Tail { wakes: 9, late: late_ones, ..Tail::default() };
        let said = late(&tail, false, Some(6100.0)).to_string();
        for part in [
            "the 2 latest came 4.00 µs to 6.00 µs",
            "20 % of it went until",
            "idle (C6)",
            "4.0 % in the interrupt",
            "70 % waiting for the CPU, which had cc1 86 %, the idle CPU 14 %",
            "6.0 % on the way back to the task",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!said.contains("in none of these") && !said.contains("lost"), "{said}");
        let said = late(&Tail { lost: 3, ..tail.clone() }, true, Some(12_000.0)).to_string();
        assert!(said.contains("of its own latest, 12.0 µs, 50 % are in none of these; 3 events"), "{said}");
        assert!(said.contains("quota had run out, 14 %"), "{said}");
        let alone = Tail { late: vec![wake(None, [10, 0, 0, 0], "")], ..Tail::default() };
        assert!(late(&alone, false, None).to_string().contains("0.00 % waiting for the CPU, 0.00 % on the way"));
    }

    #[test]
    fn no_time_is_not_written_as_a_figure() {
        let unseen = |waited_ns| {
            let tail = Tail { unknown: Some(Obstacle::NotTried), ..Tail::default() };
            let scheduled = Scheduled { waited_ns, between_ns: 1_000, tail: Some(tail), ..Scheduled::default() };
            unknown(&scheduled).unwrap().to_string()
        };
        assert_eq!(unseen(Some(0)), "none of its tasks waited for a CPU in the start that the host looked at");
        assert!(unseen(Some(10)).starts_with("its tasks waited 10.0 ns of 1.00 µs for a CPU"), "{}", unseen(Some(10)));
        assert!(unseen(None).contains("not known"));
    }
}
