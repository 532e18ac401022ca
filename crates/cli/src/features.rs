//! The features: all that the program has beside its core. Nothing else names one.

use clap::ArgMatches;
use std::time::Instant;
use switchcost_session::feature::Command;
use switchcost_session::{Exit, Failure, Feature};

/// Each feature, behind the Cargo feature of its name.
pub const FEATURES: &[Feature] = &[
    #[cfg(feature = "audit")]
    switchcost_audit::FEATURE,
    #[cfg(feature = "classic")]
    switchcost_classic::FEATURE,
    #[cfg(feature = "crosscheck")]
    switchcost_crosscheck::FEATURE,
    #[cfg(feature = "fleet")]
    switchcost_fleet::FEATURE,
];

/// Commands of features.
pub fn commands() -> impl Iterator<Item = &'static Command> {
    FEATURES.iter().flat_map(|feature| feature.commands)
}

/// Carries out a command of a feature; None: it is one of the core.
pub fn carry_out(name: &str, typed: &ArgMatches, started: Instant) -> Option<Result<Exit, Failure>> {
    commands().find(|command| (command.define)().get_name() == name).map(|command| (command.run)(typed, started))
}
