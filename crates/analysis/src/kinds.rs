//! Kinds of starts, and of the batches within them.

use switchcost_stats::{Mode, modes, modes_within, sorted};

/// Most different values of a count that are kinds; more are scatter.
const DIFFERENT: usize = 4;

/// Kinds of starts where figures are counted: each value that is there. None where all are equal,
/// or where they are too many to be kinds.
pub(crate) fn different(counts: &[f64]) -> Vec<Mode> {
    let values = sorted(counts);
    let groups: Vec<&[f64]> = values.chunk_by(|a, b| a.to_bits() == b.to_bits()).collect();
    let share = |group: &&[f64]| Mode { value: group[0], weight: group.len() as f64 / values.len() as f64 };
    if (2..=DIFFERENT).contains(&groups.len()) { groups.iter().map(share).collect() } else { Vec::new() }
}

/// Kinds of the batches, if starts go from one to the other (`true`); otherwise those of starts, by
/// their medians.
pub(crate) fn kinds(medians: &[f64], batches: &[&[f64]]) -> (Vec<Mode>, bool) {
    let of_batches = modes_within(batches);
    if of_batches.is_empty() { (modes(medians), false) } else { (of_batches, true) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_a_count_is_a_kind_unless_there_are_many() {
        let kinds = |counts: &[f64]| different(counts).iter().map(|mode| (mode.value, mode.weight)).collect::<Vec<_>>();
        assert_eq!(kinds(&[57.0; 10]), []);
        assert_eq!(kinds(&[58.0, 57.0, 57.0, 57.0]), [(57.0, 0.75), (58.0, 0.25)]);
        assert_eq!(kinds(&[1.0, 2.0, 3.0, 4.0, 5.0]), []);
        assert_eq!(kinds(&[]), []);
    }
}
