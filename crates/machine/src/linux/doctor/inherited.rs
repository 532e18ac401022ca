//! What a parent handed on and this process could not undo.

use super::{Answer, Subject};
use crate::os::facts;

/// Values of an ordinary process, and where a kernel does not tell.
fn is_usual(value: &str, usual: &str) -> bool {
    value == usual || value.starts_with("unknown: ")
}

pub(super) fn handed_on(subject: &Subject<'_>) -> Answer {
    let (class, nice) = facts::class_and_nice(subject.host);
    if !is_usual(&class, "other") {
        return Answer::warning(
            format!("switchcost was started under SCHED_{}, and may not leave that class", class.to_uppercase()),
            "every probe runs in that class: rows that ask for a class are refused, the others are of it",
            "start it under the usual class (chrt --other 0 switchcost …; a service's CPUSchedulingPolicy=other)",
        );
    }
    let (personality, memory) = (facts::personality(subject.host), facts::memory_policy(subject.host));
    let unusual = [
        (&nice, "0", format!("nice value {nice}")),
        (&personality, "0x0", format!("personality {personality} (setarch)")),
        (&memory, "default", format!("memory policy {memory} (numactl)")),
    ];
    let unusual: Vec<&str> =
        unusual.iter().filter(|(value, usual, _)| !is_usual(value, usual)).map(|(_, _, text)| text.as_str()).collect();
    if unusual.is_empty() {
        return Answer::fine("nothing unusual was inherited from the parent");
    }
    Answer::note(
        format!("inherited from the parent: {}", unusual.join(", ")),
        "probes inherit it as well; beside other work, or compared with runs without it, figures may differ",
        "start switchcost from a plain shell or service",
    )
}
