//! vm/guest-stack: a stack switch inside a guest. How: `vm/guest_stack.rs`.

use crate::vm;
use kit::{Mechanism, Parameter};

pub const MECHANISM: Mechanism = Mechanism {
    parameters: &[super::RING, Parameter { name: "where", words: &["guest", "process"] }, kit::STACK_OFFSET],
    timings: &["batch"],
    unavailable: vm::unavailable,
    ..Mechanism::new("vm/guest-stack", vm::guest_stack::set_up)
};
