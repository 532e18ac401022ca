//! vm/exit: guest to host and back. How: `vm/exit.rs`; create and footprint: `vm/creation.rs`.

use crate::vm;
use kit::{Mechanism, Parameter};

pub const MECHANISM: Mechanism = Mechanism {
    experiments: &["switch", "create", "footprint"],
    parameters: &[Parameter { name: "by", words: &["pio", "hlt", "mmio", "hypercall"] }, super::RING],
    unavailable: vm::unavailable,
    create: vm::exit::create,
    hold: vm::exit::hold,
    ..Mechanism::new("vm/exit", vm::exit::set_up)
};
