//! The tests of this crate from outside, in one program: it links once.

mod counted;
mod nodes;
#[path = "../../analysis/tests/simulation/mod.rs"]
#[allow(dead_code, reason = "only its random numbers and its tables are needed here")]
mod simulation;
