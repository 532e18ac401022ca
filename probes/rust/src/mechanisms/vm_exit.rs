//! vm/exit: guest to host and back. How: `vm/exit.rs`; create and footprint: `vm/creation.rs`.

use crate::vm;
use kit::{Mechanism, Parameter, ParameterKind};

pub const MECHANISM: Mechanism = Mechanism {
    id: "vm/exit",
    experiments: &["switch", "create", "footprint"],
    parameters: &[
        Parameter { name: "by", kind: ParameterKind::Words(&["pio", "hlt", "mmio", "hypercall"]), default: "pio" },
        super::ring("0"),
    ],
    timings: kit::ALL_TIMINGS,
    pins: false,
    unavailable: vm::unavailable,
    set_up: vm::exit::set_up,
    hold: Some(vm::exit::hold),
};
