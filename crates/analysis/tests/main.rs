//! The tests of this crate from outside, in one program: it links once.

mod clock;
mod coverage;
mod curves;
mod ladder;
mod neighbour;
mod pipeline;
mod simulation;
mod together;
