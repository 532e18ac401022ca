//! A parameter of virtual machines.

use kit::{Parameter, ParameterKind};

/// Ring of the processor that guest code runs in.
pub const fn ring(default: &'static str) -> Parameter {
    Parameter { name: "ring", kind: ParameterKind::Words(&["0", "3"]), default }
}
