//! vm/guest-stack: a stack switch inside a guest. How: `vm/guest_stack.rs`.

use crate::vm;
use kit::{Mechanism, Parameter, ParameterKind};

pub const MECHANISM: Mechanism = Mechanism {
    // Ring 3 first: some hypervisors emulate ring 0, none ring 3.
    parameters: &[
        super::ring("3"),
        Parameter { name: "where", kind: ParameterKind::Words(&["guest", "process"]), default: "guest" },
        kit::STACK_OFFSET,
    ],
    timings: &["batch"],
    unavailable: vm::unavailable,
    ..Mechanism::new("vm/guest-stack", vm::guest_stack::set_up)
};
