//! What a row goes through, for whoever looks for a cause.

use crate::IdError;
use crate::variant::words;
use std::fmt;
use std::str::FromStr;

/// What an operation goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Passage {
    /// Instructions alone.
    Core,
    /// Into the kernel and back.
    Entry,
    /// The scheduler as well.
    Switch,
    /// The scheduler, within control groups of their own.
    Group,
    /// A CPU that sleeps.
    Wake,
    /// The path between two CPUs.
    Cache,
    /// Not known.
    Other,
}
words!(Passage, "passage", Core => "core", Entry => "entry", Switch => "switch", Group => "group", Wake => "wake", Cache => "cache", Other => "other");
