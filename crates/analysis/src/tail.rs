//! For whom the tasks of a row waited longest.

use crate::row::Judged;
use crate::summary::traced;
use switchcost_model::number::{grouped, percent};
use switchcost_model::{Quantity, Scheduled};

/// Who had the CPU is named down to this share of the waits.
const NAMED: f64 = 0.02;

/// A sentence on its longest waits; None: its experiment has none.
pub(crate) fn tail(row: &Judged<'_>) -> Option<String> {
    let scheduled = || row.starts.iter().filter_map(|start| start.seen.as_ref()?.scheduled.as_ref());
    let Some(tail) = row.starts.iter().find_map(|start| traced(start)) else {
        return scheduled().find_map(unknown);
    };
    let (Some(longest), Some(shortest)) = (tail.longest_ns.first(), tail.longest_ns.last()) else {
        return Some("none of its tasks waited for a CPU in the start that was traced".to_owned());
    };
    let all: u64 = tail.held.values().sum();
    let mut held: Vec<(&String, f64)> = tail
        .held
        .iter()
        .map(|(name, ns)| (name, *ns as f64 / all.max(1) as f64))
        .filter(|(_, share)| *share >= NAMED)
        .collect();
    held.sort_by(|a, b| b.1.total_cmp(&a.1));
    let held = held.iter().map(|(name, share)| format!("{name} {}", percent(*share))).collect::<Vec<_>>().join(", ");
    let time = |ns: u64| Quantity::TIME.amount(ns as f64);
    Some(format!(
        "of {} traced waits for a CPU the {} longest took {} to {}; meanwhile it had {held}",
        grouped(tail.wakes as i64),
        tail.longest_ns.len(),
        time(*shortest),
        time(*longest),
    ))
}

fn unknown(scheduled: &Scheduled) -> Option<String> {
    let why = scheduled.tail.as_ref()?.unknown.as_ref()?;
    let waited = scheduled.waited_ns.map_or(String::new(), |ns| {
        let time = |ns: u64| Quantity::TIME.amount(ns as f64);
        format!("its tasks waited {} of {} for a CPU; ", time(ns), time(scheduled.between_ns))
    });
    Some(format!("{waited}for whom is not known: {why}"))
}
