//! Requests that mean nothing here.

use std::time::Duration;
use switchcost_model::Request;

/// A request that cannot be met, as one sentence with its cure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// A pattern matches no mechanism.
    #[error("no mechanism matches `{pattern}`{hint}; `switchcost list` shows all")]
    UnknownMechanism {
        /// As typed.
        pattern: String,
        /// A similar id, in brackets.
        hint: String,
    },
    /// One start alone takes longer than the whole run may.
    #[error(
        "--budget: the batches of a start last {start:.1?} (--batches × --batch-time), and there are {budget:.1?}; allow more, or ask for fewer or shorter batches"
    )]
    LongStarts {
        /// Length of the batches of one start.
        start: Duration,
        /// Of all starts.
        budget: Duration,
    },
    /// Not a glob.
    #[error("{0}")]
    BadPattern(String),
    /// No such probe.
    #[error(
        "--probe {name}: there is no such probe{hint}; `switchcost list` shows all, `make build` builds what is missing"
    )]
    UnknownProbe {
        /// As typed.
        name: String,
        /// A similar id, in brackets.
        hint: String,
    },
    /// No chosen mechanism has this parameter.
    #[error("--param {name}: none of the chosen mechanisms has this parameter{}", known.as_ref().map_or(String::new(), |k| format!("; they have {k}")))]
    UnknownParameter {
        /// As typed.
        name: String,
        /// Those that exist.
        known: Option<String>,
    },
    /// No chosen mechanism takes it in its experiment.
    #[error("--param {name}: changes nothing in experiment {asked}; it belongs to experiment {changed}: {cure}")]
    IgnoredParameter {
        /// As typed.
        name: String,
        /// What would be measured.
        asked: String,
        /// What it changes.
        changed: String,
        /// What to do.
        cure: String,
    },
    /// Value out of range.
    #[error("--param {name}: {reason}")]
    BadParameter {
        /// As typed.
        name: String,
        /// What it may be.
        reason: String,
    },
    /// A word of a pattern says something else than an option.
    #[error("`{pattern}`: {word} contradicts {other}; leave one of them out")]
    Twice {
        /// As typed.
        pattern: String,
        /// The word.
        word: String,
        /// The option, or another word, as typed.
        other: String,
    },
    /// No row of it can run, whatever the probes answer.
    #[error("{0}")]
    Impossible(String),
    /// No probe at all.
    #[error("no probe is installed in {0}; run `make build`, or let SWITCHCOST_LIBEXEC point to libexec/switchcost")]
    NoProbes(String),
}

impl RequestError {
    /// That the batches of one start, if they were asked for, have room in the budget.
    pub(crate) fn of_length(request: &Request) -> Result<(), Self> {
        let length =
            |request: &Request| request.batch.saturating_mul(u32::try_from(request.batches).unwrap_or(u32::MAX));
        let (start, budget) = (length(request), request.budget);
        let fits = start <= budget || start <= length(&Request::default());
        if fits { Ok(()) } else { Err(Self::LongStarts { start, budget }) }
    }
}
