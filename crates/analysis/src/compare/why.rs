//! Why a pair of rows has no ratio, or a ratio no verdict: data, of which `report` makes sentences.

use core::fmt;
use switchcost_model::Experiment;

/// Which row of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The reference.
    A,
    /// What is held against it.
    B,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}

/// The reason.
#[derive(Debug, Clone, PartialEq)]
pub enum Why {
    /// They measure different things.
    Experiments(Experiment, Experiment),
    /// They are measured per different units.
    Units(String, String),
    /// A side bears no verdict.
    Unusable {
        /// Which.
        side: Side,
        /// Why.
        reason: String,
    },
    /// Rows of one run that no round holds both of.
    NoRoundInCommon,
    /// A side without a figure.
    NoFigure,
    /// Rounds that hold both, and how many this level needs.
    FewRounds {
        /// Those there are.
        rounds: usize,
        /// Those it takes.
        needed: usize,
    },
    /// Starts of A and of B, and how many of each this level needs.
    FewStarts {
        /// Those there are.
        starts: (usize, usize),
        /// Those it takes.
        needed: usize,
    },
    /// Ratios of one round after another that wander.
    RatiosWander,
    /// As both were measured they have this ratio; the figure of one leaves out what slowed the
    /// machine, that of the other cannot.
    OneCorrected(f64),
    /// The interval holds 1.
    MaybeNone,
    /// The difference does not exceed the noise floor, a fraction.
    WithinFloor(f64),
    /// The interval holds differences on both sides of the threshold, a fraction.
    AboutThreshold(f64),
    /// A clock was slower, by this logarithm (B's, if positive), and the difference may be its.
    Clock(f64),
    /// The starts of a side come from a machine that had not settled.
    Unsettled {
        /// Which.
        side: Side,
        /// What did not.
        reason: String,
    },
    /// Sides whose modes reach into the other's, with the modes in words: the ratio follows their
    /// shares, which are chance.
    Modes(Vec<(Side, String)>),
    /// Batches of one side are ten times as long as the other's, or more.
    Batches {
        /// A's, ns.
        a_ns: f64,
        /// B's, ns.
        b_ns: f64,
    },
    /// The core was never as free in the run of this side as in the other's.
    Slowed {
        /// Which.
        side: Side,
        /// How many times as long its ruler took.
        times: f64,
    },
}

impl Why {
    /// The word that stands for it in formats.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Experiments(..) => "different_experiments",
            Self::Units(..) => "different_units",
            Self::Batches { .. } => "different_batches",
            Self::Unusable { .. } => "unusable",
            Self::NoRoundInCommon => "no_round_in_common",
            Self::NoFigure => "no_figure",
            Self::FewRounds { .. } => "few_rounds",
            Self::FewStarts { .. } => "few_starts",
            Self::MaybeNone => "maybe_none",
            Self::WithinFloor(_) => "within_floor",
            Self::AboutThreshold(_) => "about_threshold",
            Self::Clock(_) => "clock",
            Self::Unsettled { .. } => "unsettled",
            Self::RatiosWander => "ratios_wander",
            Self::OneCorrected(_) => "one_corrected",
            Self::Modes(_) => "modes",
            Self::Slowed { .. } => "slowed",
        }
    }
}
