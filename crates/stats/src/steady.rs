//! Where the warm-up of a series ends.

use crate::location::{OF_A_MEDIAN, SIGMAS, mad, median};

/// Result of looking for the steady part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steady {
    /// Values from this index on are steady (0: no warm-up was left).
    From(usize),
    /// The best cut lies in the second half: no steady part was reached.
    Never,
}

/// Fewest values for which a cut can be told from chance.
const SHORTEST: usize = 8;

/// A warm-up is reported only if its median is off by more than this share of the steady median:
/// below, cutting would only lose data.
const NEGLIGIBLE: f64 = 0.005;

/// And by more standard errors than this: the rule always cuts somewhere, in a third of steady
/// series beyond what is negligible. With this, in 3 %.
const CHANCE: f64 = 3.0;

/// Looks for the end of warm-up by the marginal standard error rule (MSER).
///
/// K. P. White, "An effective truncation heuristic for bias reduction in simulation output",
/// Simulation 69 (1997) 323–334: cut where the squared standard error of the mean of what is left
/// is smallest. One interrupted batch must not attract the cut, so values are first clamped to the
/// median ± 5 MAD of the second half.
#[must_use]
pub fn steady_from(series: &[f64]) -> Steady {
    let n = series.len();
    if n < SHORTEST {
        return Steady::From(0);
    }
    let tail = &series[n / 2..];
    let (Some(centre), Some(spread)) = (median(tail), mad(tail)) else { return Steady::From(0) };
    let reach = 5.0 * spread.max(centre.abs() * 1e-4);
    // Nothing is known of a series with values that no clock gives, or whose differences are out of
    // range.
    if !(reach.is_finite() && series.iter().all(|value| (value - centre).is_finite())) {
        return Steady::From(0);
    }
    // Offsets from the centre keep the sums below exact enough.
    let offsets: Vec<f64> = series.iter().map(|value| (value - centre).clamp(-reach, reach)).collect();
    let cut = smallest_standard_error(&offsets, n - SHORTEST / 2);
    let chance = CHANCE * OF_A_MEDIAN * SIGMAS * spread * (1.0 / cut as f64 + 1.0 / (n - cut) as f64).sqrt();
    let negligible = chance.max(NEGLIGIBLE * centre.abs());
    let head_is_off = median(&series[..cut]).is_some_and(|head| (head - centre).abs() > negligible);
    match cut {
        0 => Steady::From(0),
        _ if !head_is_off => Steady::From(0),
        _ if cut > n / 2 => Steady::Never,
        _ => Steady::From(cut),
    }
}

/// The start below `end` from which on the mean has the smallest squared standard error; one pass
/// from the end, by running sums.
fn smallest_standard_error(values: &[f64], end: usize) -> usize {
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (start, value) in values.iter().enumerate().rev() {
        sum += value;
        squares += value * value;
        let count = (values.len() - start) as f64;
        let error = (squares - sum * sum / count).max(0.0) / (count * count);
        if start < end && error <= best.0 {
            best = (error, start);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(n: usize) -> Vec<f64> {
        (0..n).map(|i| 100.0 + ((i * 7919) % 13) as f64 * 0.05).collect()
    }

    #[test]
    fn a_flat_series_has_no_warm_up() {
        assert_eq!(steady_from(&noise(30)), Steady::From(0));
        assert_eq!(steady_from(&[1.0; 30]), Steady::From(0));
        assert_eq!(steady_from(&[]), Steady::From(0));
    }

    #[test]
    fn a_slow_start_is_found() {
        let mut series = noise(30);
        for (i, value) in series.iter_mut().take(6).enumerate() {
            *value += 60.0 - 10.0 * i as f64;
        }
        // The value after the ramp may be given up with it: it lies on the edge of the noise.
        assert!(matches!(steady_from(&series), Steady::From(6 | 7)));
    }

    #[test]
    fn without_any_noise_it_is_found_too() {
        let series: Vec<f64> = (0..30).map(|i| if i < 8 { 300.0 } else { 100.0 }).collect();
        assert_eq!(steady_from(&series), Steady::From(8));
    }

    #[test]
    fn one_interrupted_batch_is_no_warm_up() {
        for place in [3, 10, 29] {
            let mut series = noise(30);
            series[place] = 4000.0;
            assert_eq!(steady_from(&series), Steady::From(0), "outlier at {place}");
        }
    }

    #[test]
    fn a_late_step_is_no_steady_state() {
        let mut series = noise(30);
        for value in series.iter_mut().skip(20) {
            *value -= 40.0;
        }
        assert_eq!(steady_from(&series), Steady::Never);
    }

    /// A series that is steady loses nothing, but for one in thirty; one that begins 10 % higher
    /// loses its beginning.
    #[test]
    fn a_steady_series_is_left_whole() {
        let mut random = crate::random::Random(7);
        let mut cut = |head: f64| {
            let found = (0..1000).filter(|_| {
                let series: Vec<f64> =
                    (0..30).map(|i| 1.0 + 0.02 * random.normal() + if i < 6 { head } else { 0.0 }).collect();
                steady_from(&series) != Steady::From(0)
            });
            found.count()
        };
        let (steady, warming) = (cut(0.0), cut(0.1));
        assert!(steady <= 40 && warming >= 800, "{steady} and {warming} of 1,000");
    }
}
