//! The work that the harnesses of Rust call.
#[link(name = "work", kind = "static")]
extern "C" {
    fn league_work(seed: u64) -> u64;
}

/// Does the work once.
#[inline]
pub fn work(seed: u64) -> u64 {
    // SAFETY: the function takes and returns an integer and touches no memory.
    unsafe { league_work(seed) }
}
