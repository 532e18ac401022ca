//! What a parent handed on and this process could not undo.

use super::Subject;
use crate::os::facts;
use switchcost_model::Severity::{Fine, Note, Warning};
use switchcost_model::{Finding, finding, is_known};

/// Values of an ordinary process, and where a kernel does not tell.
fn is_usual(value: &str, usual: &str) -> bool {
    value == usual || !is_known(value)
}

pub(super) fn handed_on(subject: &Subject<'_>) -> Finding {
    let (class, nice) = facts::class_and_nice(subject.host);
    if !is_usual(&class, "other") {
        return finding!(Warning, inherited.class, class = class.to_uppercase());
    }
    let (personality, memory) = (facts::personality(subject.host), facts::memory_policy(subject.host));
    let unusual = [
        (&nice, "0", format!("nice value {nice}")),
        (&personality, "0x0", format!("personality {personality} (setarch)")),
        (&memory, "default", format!("memory policy {memory} (numactl)")),
    ];
    let mut unusual: Vec<&str> =
        unusual.iter().filter(|(value, usual, _)| !is_usual(value, usual)).map(|(_, _, text)| text.as_str()).collect();
    let no_new_code =
        "no memory may be written and then executed (MemoryDenyWriteExecute), which ends runtimes that compile";
    unusual.extend(subject.sizes.no_new_code.then_some(no_new_code));
    if unusual.is_empty() {
        return finding!(Fine, inherited.usual);
    }
    finding!(Note, inherited.unusual, settings = unusual.join(", "))
}
