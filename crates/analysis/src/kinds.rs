//! Kinds of starts, and of the batches within them.

use switchcost_stats::{Mode, modes, modes_within};

/// Kinds of the batches, if starts go from one to the other (`true`); otherwise those of starts, by their medians.
pub(crate) fn kinds(medians: &[f64], batches: &[&[f64]]) -> (Vec<Mode>, bool) {
    let of_batches = modes_within(batches);
    if of_batches.is_empty() { (modes(medians), false) } else { (of_batches, true) }
}
