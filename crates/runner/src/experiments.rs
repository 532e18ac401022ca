//! What the host does in an experiment beyond starting its probe: a file for each part, called as
//! pages name it. Nobody else knows which there are.

mod part;

pub(crate) use part::{Acts, Around};

use switchcost_model::{Experiment, host_parts};

macro_rules! declare {
    ($($name:ident: $field:ident $seen:ident,)+) => {
        $(mod $name;)+

        const ALL: &[(&str, Acts)] = &[$((stringify!($name), $name::ACTS)),+];
    };
}
host_parts!(declare);

/// What the host does in this experiment.
pub(crate) fn acts(experiment: Experiment) -> &'static Acts {
    let own = ALL.iter().find(|(name, _)| experiment.host.is_some_and(|part| part.name == *name));
    own.map_or(&Acts::NONE, |(_, acts)| acts)
}
