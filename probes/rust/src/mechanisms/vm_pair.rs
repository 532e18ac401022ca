//! vm/pair: machines hand a token round through the host. How: `vm/pair.rs`.

use crate::vm;
use kit::Mechanism;

pub const MECHANISM: Mechanism = Mechanism {
    parameters: &[super::RING],
    pins: true,
    unavailable: vm::unavailable,
    ..Mechanism::new("vm/pair", vm::pair::set_up)
};
