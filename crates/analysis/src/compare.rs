//! Two rows side by side, and what follows: [`pairing`] finds the pairs, [`ratio`] says of one pair
//! what its figures bear, [`verdicts`] says it of all pairs of a question together, and [`gate`]
//! says whether they pass.

mod exceeded;
mod gate;
mod grown;
mod machines;
mod pairing;
mod ratio;
mod verdicts;
mod why;

pub use exceeded::{Exceeded, Most, counts, exceeded};
pub use gate::{DoctorGate, Gate, GateOutcome, Ground, excludes};
pub use grown::{Grown, grown};
pub use machines::{clocks_differ, slowed_throughout};
pub(crate) use pairing::unit;
pub use pairing::{Common, Place, THRESHOLD, alike, common, comparable, methods_differ, probe_without_version};
pub use ratio::{Comparison, Outcome, Rules, between, within};
pub use verdicts::{Caution, Incomparable, Remark, Verdicts, verdicts};
pub use why::{Side, Why};
