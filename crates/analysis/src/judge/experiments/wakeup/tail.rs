//! For whom the tasks of a row waited longest.

use switchcost_model::{Invocation, Quantity, Remark, Scheduled, Seen, Tail, Value, remark};

/// Who had the CPU is named down to this share of the waits.
const NAMED: f64 = 0.02;

/// What a start was traced for, which takes time: it is in no figure.
pub(super) fn traced(seen: &Seen) -> Option<&Tail> {
    let tail = seen.part.scheduled.as_ref()?.tail.as_ref()?;
    Some(tail).filter(|tail| tail.unknown.is_none())
}

/// What is known of the longest waits of a row's starts; None: it has none.
pub(super) fn waits(starts: &[&Invocation]) -> Option<Remark> {
    let seen = || starts.iter().filter_map(|start| start.seen.as_ref());
    let Some(tail) = seen().find_map(traced) else {
        return seen().filter_map(|seen| seen.part.scheduled.as_ref()).find_map(unknown);
    };
    let (Some(longest), Some(shortest)) = (tail.longest_ns.first(), tail.longest_ns.last()) else {
        return Some(remark!(none_waited));
    };
    let all: u64 = tail.held.values().sum();
    let mut held: Vec<(&String, f64)> = tail
        .held
        .iter()
        .map(|(name, ns)| (name, *ns as f64 / all.max(1) as f64))
        .filter(|(_, share)| *share >= NAMED)
        .collect();
    held.sort_by(|a, b| b.1.total_cmp(&a.1));
    let held = held.iter().map(|(name, share)| format!("{name} {}", Value::Percent(*share)));
    let held = held.collect::<Vec<_>>().join(", ");
    let time = |ns: u64| Value::Amount(ns as f64, Quantity::TIME);
    let (shortest, longest) = (time(*shortest), time(*longest));
    Some(remark!(waits, wakes = tail.wakes, count = tail.longest_ns.len(), shortest, longest, held))
}

fn unknown(scheduled: &Scheduled) -> Option<Remark> {
    let why = scheduled.tail.as_ref()?.unknown.as_ref()?.to_string();
    let time = |ns: u64| Value::Amount(ns as f64, Quantity::TIME);
    Some(match scheduled.waited_ns {
        None => remark!(waits_unknown, why),
        Some(waited) => remark!(waited, waited = time(waited), of = time(scheduled.between_ns), why),
    })
}
