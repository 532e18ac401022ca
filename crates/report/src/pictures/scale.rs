//! From values to places along an axis.

use crate::number::Quantity;
use plotters::coord::combinators::{IntoLogRange, LogCoord};
use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordf64;

/// A logarithmic axis.
pub(super) struct Scale {
    coordinates: LogCoord<f64>,
    pixels: (i32, i32),
    low: f64,
    high: f64,
}

impl Scale {
    /// Holds all of these that have a logarithm; None if none has.
    pub fn of(values: impl Iterator<Item = f64>, pixels: (i32, i32)) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| value.is_finite() && *value > 0.0) {
            (low, high) = (low.min(value), high.max(value));
        }
        if high == 0.0 {
            return None;
        }
        // By logarithms: the ratio of the ends, and the ends with their margin, may be beyond what a number holds.
        let margin = ((high.ln() - low.ln()) * 0.03).exp().max(1.02);
        let (low, high) = ((low / margin).max(f64::MIN_POSITIVE), (high * margin).min(f64::MAX));
        Some(Self { coordinates: (low..high).log_scale().into(), pixels, low, high })
    }

    /// Place of a value; of one outside, the end of the axis.
    pub fn at(&self, value: f64) -> i32 {
        self.coordinates.map(&value.clamp(self.low, self.high), self.pixels)
    }

    /// Round numbers within, at most about `room`: powers of ten (of four, for bytes), with 2 and 5 between if these fit.
    pub fn ticks(&self, quantity: Quantity, room: usize) -> Vec<f64> {
        let (base, between): (f64, &[f64]) =
            if quantity == Quantity::Memory { (4.0, &[1.0, 2.0]) } else { (10.0, &[1.0, 2.0, 5.0]) };
        let powers = self.low.log(base).floor() as i32..=self.high.log(base).ceil() as i32;
        let powers: Vec<f64> = powers.map(|power| base.powi(power)).collect();
        let within = |tick: &f64| (self.low..=self.high).contains(tick);
        let fine: Vec<f64> =
            powers.iter().flat_map(|power| between.iter().map(move |times| power * times)).filter(within).collect();
        if fine.len() < 3 {
            return RangedCoordf64::from(self.low..self.high)
                .key_points(room.min(6))
                .into_iter()
                .filter(within)
                .collect();
        }
        if fine.len() <= room {
            return fine;
        }
        let coarse: Vec<f64> = powers.into_iter().filter(within).collect();
        let step = coarse.len().div_ceil(room.max(2));
        coarse.into_iter().step_by(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_some_ticks_and_keeps_within_its_ends() {
        for ends in
            [[1.0, 40_000.0], [1.2, 1.4], [1000.0, 1001.0], [1e-3, 1e15], [5.0, 5.0], [f64::MIN_POSITIVE, 1e300]]
        {
            let scale = Scale::of(ends.into_iter(), (100, 500)).unwrap();
            let ticks = scale.ticks(Quantity::Time, 6);
            assert!((1..=7).contains(&ticks.len()), "{ends:?}: {ticks:?}");
            assert!(ticks.iter().all(|tick| (100..=500).contains(&scale.at(*tick))));
            assert!(scale.at(ends[0]) <= scale.at(ends[1]) && scale.at(-1.0) == scale.at(0.0));
        }
        assert!(Scale::of([0.0, -1.0, f64::NAN, f64::INFINITY].into_iter(), (0, 1)).is_none());
    }

    #[test]
    fn ticks_are_those_that_people_expect() {
        let scale = |low, high| Scale::of([low, high].into_iter(), (0, 400)).unwrap();
        assert_eq!(scale(1.5, 60.0).ticks(Quantity::Time, 8), [2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(scale(1.0, 20_000.0).ticks(Quantity::Time, 6), [1.0, 10.0, 100.0, 1e3, 1e4]);
        assert_eq!(scale(1024.0, 65536.0).ticks(Quantity::Memory, 4), [1024.0, 4096.0, 16384.0, 65536.0]);
    }
}
