//! The wire form between host and probes (normative text: PROTOCOL.md).
//!
//! Outwards a plan becomes `key=value` arguments; inwards JSON Lines become a
//! [`Transcript`](switchcost_model::Transcript). The reader is strict: the first line that breaks a
//! rule ends the reading and is reported, since a probe that misspeaks once cannot be believed.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice))]

mod arguments;
mod fields;
mod reader;
mod wire;

pub use arguments::{describe_arguments, run_arguments};
pub use fields::{kind, unknown_fields};
pub use reader::{DescribeReader, MAX_LINE_BYTES, RunReader};
pub use wire::END_CODES;

/// Version of the protocol that this host speaks.
pub const PROTOCOL_VERSION: u64 = 1;
