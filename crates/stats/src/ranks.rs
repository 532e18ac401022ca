//! Values by their ranks.

use crate::sorted;

/// Lag-1 correlation of values around 0 as they are. None where nothing varies.
pub(crate) fn next_to_next(offsets: &[f64]) -> Option<f64> {
    let squares: f64 = offsets.iter().map(|offset| offset * offset).sum();
    (squares > 0.0).then(|| offsets.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / squares)
}

/// Ranks around their middle.
pub(crate) fn offsets(values: &[f64]) -> Vec<f64> {
    let middle = (values.len() as f64 + 1.0) / 2.0;
    ranks(values).into_iter().map(|rank| rank - middle).collect()
}

/// Ranks from 1; of equal values their middle.
fn ranks(values: &[f64]) -> Vec<f64> {
    let ascending = sorted(values);
    let below = |value: f64| ascending.partition_point(|other| other.total_cmp(&value).is_lt());
    let up_to = |value: f64| ascending.partition_point(|other| other.total_cmp(&value).is_le());
    values.iter().map(|&value| (below(value) + up_to(value) + 1) as f64 / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_as_in_r() {
        // R: rank(c(3, 1, 3, 2)) gives 3.5 1.0 3.5 2.0
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }
}
