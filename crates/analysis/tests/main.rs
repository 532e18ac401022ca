//! The tests of this crate from outside, in one program: it links once.

mod clock;
mod coverage;
mod curves;
mod fleet;
mod ladder;
mod neighbour;
mod nodes;
mod pipeline;
mod simulation;
