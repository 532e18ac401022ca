//! What must hold for the records of a run to hang together. Nothing about the numbers: a probe's nonsense is kept.

use switchcost_model::{EndedBy, Run, harmless};

/// Longest id of a run.
const MAX_ID: usize = 64;

/// The rules for a whole run. The error is a clause that names what is wrong.
pub fn check(run: &Run) -> Result<(), String> {
    check_id(&run.id)?;
    if (run.ended_by == EndedBy::Unfinished) != run.ended_unix_ns.is_none() {
        return Err(format!(
            "ended_by is `{}` but the time of the end is {}",
            run.ended_by,
            if run.ended_unix_ns.is_none() { "missing" } else { "given" }
        ));
    }
    let count = run.variants.len();
    if let Some(index) = run.not_run.keys().find(|index| **index >= count) {
        return Err(format!("a reason is given for variant {index} but there are {count} variants"));
    }
    run.invocations.iter().try_for_each(|invocation| check_variant(invocation.variant, count))
}

/// An invocation refers to a planned variant.
pub fn check_variant(variant: usize, count: usize) -> Result<(), String> {
    if variant < count {
        return Ok(());
    }
    Err(format!("an invocation refers to variant {variant} but there are {count} variants"))
}

/// Ids are typed by people, printed, and looked up beside `latest`; an imported one must not surprise.
fn check_id(id: &str) -> Result<(), String> {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if id.is_empty() || id.len() > MAX_ID || !id.bytes().all(fine) || id.starts_with("latest") {
        let id = harmless(id);
        return Err(format!("`{id}` is not an id of a run (1 to {MAX_ID} letters, digits, hyphens; not `latest`)"));
    }
    Ok(())
}
