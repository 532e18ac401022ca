//! Pure functions on slices of numbers. No I/O, no clock, no knowledge of mechanisms.
//!
//! An empty slice gives `None`, never a NaN. Inputs are finite; others, which run files of
//! strangers lead to, give figures that are not finite, no steady part to cut off, no kinds and no
//! changes, and never a panic (`tests/hostile.rs`).

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod bootstrap;
mod changes;
mod compare;
mod drift;
mod interval;
mod location;
mod modes;
mod multiple;
mod others;
mod random;
mod ranks;
mod ratio;
mod shared;
mod shift;
mod steady;
mod successive;

pub use bootstrap::{highest_confidence, median_difference};
pub use changes::{Change, Levels, SHORTEST, Search, fewest_for_change};
pub use compare::{LogRatio, half_width, paired};
pub use interval::{FEWEST, Interval, mean_interval, median_interval};
pub use location::{OF_A_MEDIAN, SIGMAS, mad, mean, median, quantile, sorted};
pub use modes::{Mode, modes, modes_within};
pub use multiple::{each_of, fewest_each, fewest_pairs};
pub use others::{Others, holm, two_sided};
pub use ratio::ratio_of_means;
pub use shared::{Shared, shared};
pub use shift::shift;
pub use steady::{Steady, steady_from};
pub use successive::{
    WIDEST, autocorrelation_of_ranks, chance, inflation, successive_median_interval, wanders, widening,
};
