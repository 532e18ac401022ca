//! Requests that mean nothing here.

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
