//! Who watches the machine, and who keeps its CPUs awake.

use super::Subject;
use switchcost_model::Severity::{Fine, Note, Warning};
use switchcost_model::{Finding, IDLE_REQUEST, NOBODY, finding, is_known};

/// How the names of facts begin that say who watches.
const OBSERVER: &str = "observer.";

/// An observer as a clause: `tracing: sched:sched_switch`.
fn clause(name: &str, seen: &str) -> String {
    format!("{}: {seen}", name.trim_start_matches(OBSERVER).replace('_', " "))
}

pub(super) fn watching(subject: &Subject<'_>) -> Finding {
    let others = subject
        .drifting
        .iter()
        .filter(|(name, seen)| name.starts_with(OBSERVER) && *name != IDLE_REQUEST && *seen != NOBODY);
    let (seen, unread): (Vec<_>, Vec<_>) = others.partition(|(_, seen)| is_known(seen));
    if !seen.is_empty() {
        let who: Vec<String> = seen.iter().map(|(name, seen)| clause(name, seen)).collect();
        return finding!(Warning, observers.watched, who = who.join("; "));
    }
    if unread.is_empty() {
        return finding!(Fine, observers.none);
    }
    let unread: Vec<String> = unread.iter().map(|(name, _)| clause(name, "not known")).collect();
    finding!(Note, observers.partly, unread = unread.join("; "))
}

pub(super) fn idle_request(subject: &Subject<'_>) -> Finding {
    match subject.drifting.get(IDLE_REQUEST).map(String::as_str) {
        Some(NOBODY) => finding!(Fine, idle_request.none),
        Some(who) if is_known(who) => finding!(Warning, idle_request.held, who),
        _ => finding!(Note, idle_request.unread),
    }
}
