//! vm/pair: machines hand a token round through the host. How: `vm/pair.rs`.

use crate::vm;
use kit::Mechanism;

pub const MECHANISM: Mechanism = Mechanism {
    id: "vm/pair",
    experiments: &["switch"],
    parameters: &[super::ring("0")],
    timings: kit::ALL_TIMINGS,
    pins: true,
    unavailable: vm::unavailable,
    set_up: vm::pair::set_up,
    hold: None,
};
