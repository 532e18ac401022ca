//! What must hold for the records of a run to hang together. Of the numbers only that no figure
//! divides by them if they are 0: other nonsense of a probe is kept.

use switchcost_model::{EndedBy, Invocation, Run, harmless};

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
    run.invocations.iter().try_for_each(|invocation| check_invocation(invocation, count))
}

/// An invocation refers to a planned variant, and holds nothing that its reader of the wire would
/// have refused as the divisor of a figure.
pub fn check_invocation(invocation: &Invocation, count: usize) -> Result<(), String> {
    let (variant, transcript) = (invocation.variant, &invocation.transcript);
    if variant >= count {
        return Err(format!("an invocation refers to variant {variant} but there are {count} variants"));
    }
    let zero =
        |what: &str| Err(format!("invocation {}: {what} is 0, and no figure follows from it", invocation.sequence));
    if transcript.hello.as_ref().is_some_and(|hello| hello.clock.ticks_per_second == 0) {
        return zero("clock.ticks_per_second");
    }
    if transcript.samples.iter().any(|samples| samples.units == 0) {
        return zero("units of samples");
    }
    Ok(())
}

/// Ids are typed by people, printed, and looked up beside `latest`; an imported one must not
/// surprise.
fn check_id(id: &str) -> Result<(), String> {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if id.is_empty() || id.len() > MAX_ID || !id.bytes().all(fine) || id.starts_with("latest") {
        let id = harmless(id);
        return Err(format!("`{id}` is not an id of a run (1 to {MAX_ID} letters, digits, hyphens; not `latest`)"));
    }
    Ok(())
}
