//! What a switch of each kind is priced by.

use switchcost_model::Wanted;

/// What happens at a switch, as far as it makes a difference to its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwitchKind {
    /// A thread wakes another, which runs on the same CPU.
    SameCpu,
    /// A thread is woken on another CPU, which was idle and had to be interrupted.
    IdleCpu,
    /// A thread sleeps until a timer ends.
    Timer,
    /// A thread loses its CPU to another that did not wait for it.
    Preempted,
}

impl SwitchKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::SameCpu, Self::IdleCpu, Self::Timer, Self::Preempted];

    /// The word of the data file and of the output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SameCpu => "same_cpu",
            Self::IdleCpu => "idle_cpu",
            Self::Timer => "timer",
            Self::Preempted => "preempted",
        }
    }
}

/// Which measurement stands for which switches of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceRule {
    /// Kind of the switch.
    pub kind: SwitchKind,
    /// Functions of the kernel in which the thread waits, a final `*` standing for any rest; empty:
    /// any.
    pub channels: Vec<String>,
    /// What is measured instead.
    pub wanted: Wanted,
    /// Other rows that could stand for the same switches; they widen the interval.
    pub also: Vec<Wanted>,
    /// The same switches with work between them.
    pub between: Vec<Working>,
    /// The same switches further apart: the thread sleeps for longer.
    pub apart: Vec<Wanted>,
    /// The wall time of its unit is the delay until the woken thread runs.
    pub unit_is_delay: bool,
    /// Why this one.
    pub why: String,
}

/// A row whose contexts work between two switches, and the row of that work alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Working {
    /// Switches and work.
    pub with: Wanted,
    /// The work.
    pub alone: Wanted,
}

impl PriceRule {
    /// Every row that it needs, the one that stands for the switches first.
    pub fn rows(&self) -> impl Iterator<Item = &Wanted> {
        let between = self.between.iter().flat_map(|working| [&working.with, &working.alone]);
        std::iter::once(&self.wanted).chain(&self.also).chain(&self.apart).chain(between)
    }

    /// Is it the one for threads that wait there?
    #[must_use]
    pub fn takes(&self, channel: &str) -> bool {
        self.channels.is_empty()
            || self.channels.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(beginning) => channel.starts_with(beginning),
                None => channel == pattern,
            })
    }
}
