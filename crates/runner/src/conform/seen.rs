//! What the host saw of a start by itself, in words.

use super::talk::Answer;

pub(super) fn words(answer: &Answer) -> String {
    let Some(exit) = &answer.exit else { return "nothing".into() };
    format!(
        "{} voluntary and {} involuntary switches of its processes, {} ms of CPU time",
        exit.voluntary,
        exit.involuntary,
        (exit.user_ns + exit.system_ns) / 1_000_000
    )
}
