//! A parameter of virtual machines.

use kit::Parameter;

/// Ring of the processor that guest code runs in.
pub const RING: Parameter = Parameter { name: "ring", words: &["0", "3"] };
