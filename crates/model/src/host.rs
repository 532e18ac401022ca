//! What the host does in an experiment beyond starting its probe: what everybody must know of such
//! a part. A page asks for one by its name (`host`).
//!
//! A part is files of one name: its experiment's page, here what it sees and what it takes from the
//! probe, in `analysis` its rules of evidence, in `runner` what it does.
//! [`host_parts!`](crate::host_parts) is the one list of them all.

mod part;

pub use part::HostPart;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// The parts of the host, each with the field of [`PartSeen`] that holds what it saw, for a macro
/// that declares what a crate has of each.
#[macro_export]
macro_rules! host_parts {
    ($declare:ident) => {
        $declare! {
            wakeup: scheduled Scheduled,
            count: executed Executed,
            gap: idled Idled,
        }
    };
}

macro_rules! declare {
    ($($name:ident: $field:ident $seen:ident,)+) => {
        $(
            mod $name;
            pub use $name::*;
        )+

        /// What the host saw by its part in an experiment, each in a field of its own.
        #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
        pub struct PartSeen {
            $(
                /// What it saw by this part; None where the experiment has none.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<$seen>,
            )+
        }

        impl HostPart {
            /// All of them.
            pub const ALL: &[Self] = &[$($name::PART),+];
        }
    };
}
host_parts!(declare);

/// The part that a page names.
pub(crate) fn named<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'static HostPart>, D::Error> {
    let name = String::deserialize(from)?;
    let found = HostPart::ALL.iter().find(|part| part.name == name);
    let known = || HostPart::ALL.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
    let unknown = || format!("host: there is no part `{}` of the host; write one of {}", name.escape_debug(), known());
    found.map(Some).ok_or_else(|| serde::de::Error::custom(unknown()))
}
