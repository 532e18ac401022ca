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
