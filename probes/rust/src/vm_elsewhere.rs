//! Stands for `vm` where KVM is unknown or the guests' machine code does not exist.

use kit::{Plan, Refusal};

pub fn unavailable() -> Option<Refusal> {
    let (system, architecture) = (std::env::consts::OS, std::env::consts::ARCH);
    let detail = format!(
        "virtual machines are measured through KVM on x86-64 Linux; this probe was built for {system} on {architecture}"
    );
    Some(Refusal::unsupported("unsupported_here", detail))
}

pub fn set_up<T>(_: &Plan) -> Result<T, Refusal> {
    unavailable().map_or_else(|| Err(Refusal::failed("set_up_failed", "no virtual machines here")), Err)
}

pub mod exit {
    pub use super::{set_up as create, set_up as hold, set_up};
}

pub mod guest_stack {
    pub use super::set_up;
}

pub mod pair {
    pub use super::set_up;
}
