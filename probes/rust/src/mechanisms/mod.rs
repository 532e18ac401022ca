//! One file per mechanism, and the list of them.

mod control_tokio;
mod coroutine_rust_async;
mod depth;
mod executor_tokio_spawn;
mod fiber_may;
#[cfg(target_os = "linux")]
mod fiber_monoio;
mod fiber_smol;
mod fiber_tokio;
mod fiber_tokio_timer;
mod local_tasks;
mod ring;
mod stack_corosensei;
mod stack_minicoro;
mod thread_rust_mutex;
mod thread_rust_std;
mod vm_exit;
mod vm_guest_stack;
mod vm_pair;

use kit::Mechanism;
use ring::RING;

/// Sorted by id; a test checks it.
pub const LIST: &[Mechanism] = &[
    control_tokio::CHANNEL,
    control_tokio::WAKE,
    coroutine_rust_async::MECHANISM,
    executor_tokio_spawn::MECHANISM,
    fiber_may::MECHANISM,
    #[cfg(target_os = "linux")]
    fiber_monoio::MECHANISM,
    fiber_smol::MECHANISM,
    fiber_tokio::MECHANISM,
    fiber_tokio_timer::MECHANISM,
    stack_corosensei::MECHANISM,
    stack_minicoro::MECHANISM,
    thread_rust_mutex::MECHANISM,
    thread_rust_std::MECHANISM,
    vm_exit::MECHANISM,
    vm_guest_stack::MECHANISM,
    vm_pair::MECHANISM,
];

#[cfg(test)]
mod tests;
