//! What the host saw of a start by itself, in words.

use super::talk::Answer;

pub(super) fn words(answer: &Answer) -> String {
    let Some(seen) = &answer.seen else { return "nothing".into() };
    let of_all = format!(
        "{} voluntary and {} involuntary switches of its processes, {} ms of CPU time",
        seen.voluntary,
        seen.involuntary,
        seen.cpu_ns / 1_000_000
    );
    let Some(tree) = &seen.tree else { return of_all };
    let spaces = tree.address_spaces.map_or("unknown".to_owned(), |spaces| spaces.to_string());
    format!(
        "{of_all}; at `plan` {} tasks in {} processes, address spaces: {spaces}, on CPUs {:?}",
        tree.tasks, tree.processes, tree.ran_on
    )
}
