//! For whom the tasks of a row waited longest.

use crate::row::Judged;
use crate::summary::traced;
use switchcost_model::{Quantity, Remark, Scheduled, Value, remark};

/// Who had the CPU is named down to this share of the waits.
const NAMED: f64 = 0.02;

/// What is known of its longest waits; None: its experiment has none.
pub(crate) fn tail(row: &Judged<'_>) -> Option<Remark> {
    let scheduled = || row.starts.iter().filter_map(|start| start.seen.as_ref()?.scheduled.as_ref());
    let Some(tail) = row.starts.iter().find_map(|start| traced(start)) else {
        return scheduled().find_map(unknown);
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
