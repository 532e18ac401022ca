//! Rules of evidence of the experiments that the host takes part in: a file each, called as the
//! part is. The judge applies them and knows none.

mod rules;

pub(crate) use rules::Rules;

use switchcost_model::{Experiment, Invocation, Seen, host_parts};

macro_rules! declare {
    ($($name:ident: $field:ident $seen:ident,)+) => {
        $(mod $name;)+

        const ALL: &[(&str, Rules)] = &[$((stringify!($name), $name::RULES)),+];
    };
}
host_parts!(declare);

/// Those of this experiment, if the host takes part in it.
pub(crate) fn rules(experiment: Experiment) -> &'static Rules {
    let own = ALL.iter().find(|(name, _)| experiment.host.is_some_and(|part| part.name == *name));
    own.map_or(&Rules::NONE, |(_, rules)| rules)
}

/// The row of this start sought something, which it has found.
#[must_use]
pub fn found(start: &Invocation) -> bool {
    start.seen.as_ref().is_some_and(|seen| ALL.iter().any(|(_, rules)| (rules.found)(seen)))
}

/// A start that is in no figure.
pub(crate) fn in_no_figure(start: &Invocation) -> bool {
    let of_part = |seen: &Seen| ALL.iter().any(|(_, rules)| (rules.in_no_figure)(seen));
    start.seen.as_ref().is_some_and(|seen| seen.counters.is_some() || of_part(seen))
}
