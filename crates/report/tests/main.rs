//! The tests of this crate from outside, in one program: it links once.

mod answers;
mod findings;
mod harmless;
mod made;
