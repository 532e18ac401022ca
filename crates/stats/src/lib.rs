//! Pure functions on slices of numbers. No I/O, no clock, no knowledge of mechanisms.
//!
//! Inputs are finite; an empty slice gives `None`, never a panic or a NaN.

mod interval;
mod location;
mod steady;

pub use interval::{Interval, median_interval};
pub use location::{mad, mean, median, quantile, sorted};
pub use steady::{Steady, steady_from};
