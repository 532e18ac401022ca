//! One file a mechanism, and the list of them.

mod coroutine_rust_async;
mod fiber_tokio;
mod stack_corosensei;

use kit::Mechanism;

/// Sorted by id; a test checks it.
pub const LIST: &[Mechanism] = &[coroutine_rust_async::MECHANISM, fiber_tokio::MECHANISM, stack_corosensei::MECHANISM];

#[cfg(test)]
mod tests;

/// Every created context has one turn.
fn claim_of_created(created: u64, broken: bool) -> kit::Claim {
    let turns = kit::Turns { total: created, min: 1, max: 1, contexts: created };
    kit::Claim::new(turns, created, broken)
}
