//! A number that nobody guesses.

use std::hash::{BuildHasher, Hasher, RandomState};

/// By the system call itself, through the standard library: crates that look the function up find
/// none in a program that is linked statically, and then need /dev/random, which not every root
/// has.
pub fn number() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    /// By chance they are the same once in 10^19 times.
    #[test]
    fn numbers_differ() {
        assert_ne!(super::number(), super::number());
    }
}
