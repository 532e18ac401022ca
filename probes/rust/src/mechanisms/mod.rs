//! One file per mechanism, and the list of them.

mod control_tokio;
mod coroutine_rust_async;
mod fiber_tokio;
mod stack_corosensei;
mod vm_exit;
mod vm_guest_stack;
mod vm_pair;

use kit::{Mechanism, Parameter, ParameterKind};

/// Sorted by id; a test checks it.
pub const LIST: &[Mechanism] = &[
    control_tokio::CHANNEL,
    control_tokio::WAKE,
    coroutine_rust_async::MECHANISM,
    fiber_tokio::MECHANISM,
    stack_corosensei::MECHANISM,
    vm_exit::MECHANISM,
    vm_guest_stack::MECHANISM,
    vm_pair::MECHANISM,
];

/// Ring of the processor that guest code runs in.
const fn ring(default: &'static str) -> Parameter {
    Parameter { name: "ring", kind: ParameterKind::Words(&["0", "3"]), default }
}

#[cfg(test)]
mod tests;

/// The memory that a value occupies.
fn memory_of<T>(value: &T) -> std::ops::Range<usize> {
    let start = std::hint::black_box(value as *const T).addr();
    start..start + size_of::<T>().max(1)
}

/// Every created context has one turn.
fn claim_of_created(created: u64, broken: bool) -> kit::Claim {
    let turns = kit::Turns { total: created, min: 1, max: 1, contexts: created };
    kit::Claim::new(turns, created, broken)
}

/// Contexts of experiment footprint, each of which ran once; they pass no token.
fn claim_of_held(ran: u64) -> kit::Claim {
    kit::Claim { token: None, ..claim_of_created(ran, false) }
}
