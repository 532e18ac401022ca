//! Virtual machines through KVM, for vm/exit, vm/pair and vm/guest-stack: smallest guests in 64-bit
//! mode, no devices, no interrupt controller, every entry under a watchdog.
//!
//! On other systems `vm_elsewhere.rs` stands for this module.

pub mod creation;
mod device;
pub mod exit;
mod flavour;
mod futex;
mod guest;
pub mod guest_stack;
mod machine;
mod memory;
pub mod pair;
#[cfg(test)]
mod tests;
mod watchdog;

use device::{kvm, limit, refused};
use kit::Refusal;

/// Why no virtual machine can be made here.
pub fn unavailable() -> Option<Refusal> {
    kvm().err()
}

/// Ring of the processor that the guest runs in, from the plan.
fn ring_of(plan: &kit::Plan) -> machine::Ring {
    if plan.parameter("ring") == "3" {
        machine::Ring::User
    } else {
        machine::Ring::Kernel
    }
}

/// A guest's memory is not an address space of this system; what shows that guests ran are counts.
fn without_address_spaces(claim: &mut kit::Claim) {
    claim.address_spaces = None;
    claim.why.insert(
        "address_spaces",
        "guests have memory of their own but no address space of the host's kernel; guest_exits and guest_turns are counted instead",
    );
}
