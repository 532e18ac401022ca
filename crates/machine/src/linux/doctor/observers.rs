//! Who watches the machine, and who keeps its CPUs awake.

use super::Subject;
use crate::os::observers::observers;
use switchcost_model::Severity::{Fine, Note, Warning};
use switchcost_model::{Finding, IDLE_REQUEST, NOBODY, finding, is_known};

/// An observer as a clause: `tracing: sched:sched_switch`.
fn clause(name: &str, seen: &str) -> String {
    format!("{}: {seen}", name.trim_start_matches("observer.").replace('_', " "))
}

pub(super) fn watching(subject: &Subject<'_>) -> Finding {
    let all = observers(subject.host);
    let others: Vec<&(&str, String)> =
        all.iter().filter(|(name, seen)| *name != IDLE_REQUEST && seen != NOBODY).collect();
    let (seen, unread): (Vec<_>, Vec<_>) = others.into_iter().partition(|(_, seen)| is_known(seen));
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
    let seen = observers(subject.host).into_iter().find(|(name, _)| *name == IDLE_REQUEST).map(|(_, seen)| seen);
    match seen.as_deref() {
        Some(NOBODY) | None => finding!(Fine, idle_request.none),
        Some(who) if is_known(who) => finding!(Warning, idle_request.held, who),
        Some(_) => finding!(Note, idle_request.unread),
    }
}
