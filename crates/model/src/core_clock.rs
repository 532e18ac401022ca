//! How fast a core ran, beside what it can.

use crate::Machine;

/// Below this share of what the core can, a run's figures say so first: a turbo that rests is not
/// news, a starved guest is.
const SLOW: f64 = 0.9;

/// Fact of a run: MHz of the measured core at its beginning, by the host.
pub const MHZ_MEASURED: &str = "frequency_mhz_measured";

/// Fact of a run: the highest [`MHZ_MEASURED`] of the runs that this machine's store had before it.
pub const MHZ_STORED: &str = "frequency_mhz_stored";

/// The clock of a core, GHz.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoreClock {
    /// At which it ran.
    pub kept: f64,
    /// That the system declares; None: it declares none.
    pub declared: Option<f64>,
    /// The highest that was measured in the stored runs of this machine; None: there is none.
    pub stored: Option<f64>,
}

/// What a core can, where it ran far slower.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shortfall {
    /// How many times slower it ran.
    pub times: f64,
    /// The clock that it can have, GHz.
    pub of: f64,
    /// A stored run had it; else the system declares it.
    pub stored: bool,
}

impl Shortfall {
    /// Where the higher clock is known from.
    #[must_use]
    pub fn source(&self) -> &'static str {
        if self.stored { "in a stored run of this machine" } else { "declared" }
    }
}

impl CoreClock {
    /// This clock beside what a machine's facts say of it.
    #[must_use]
    pub fn of(kept: f64, machine: &Machine) -> Self {
        let ghz = |name: &str| machine.drifting.get(name)?.parse::<f64>().ok().map(|mhz| mhz / 1e3);
        Self { kept, declared: ghz("frequency_mhz_declared"), stored: ghz(MHZ_STORED) }
    }

    /// By how much it fell short, if that is worth a word.
    #[must_use]
    pub fn shortfall(&self) -> Option<Shortfall> {
        let declared = self.declared.unwrap_or(0.0);
        let (of, stored) = self.stored.filter(|stored| *stored > declared).map_or((declared, false), |of| (of, true));
        (self.kept < SLOW * of).then(|| Shortfall { times: of / self.kept, of, stored })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_is_slow_throughout_is_slow() {
        let short = |kept, declared, stored| CoreClock { kept, declared, stored }.shortfall();
        let declared = Shortfall { times: 4.0, of: 2.4, stored: false };
        assert_eq!(short(0.6, Some(2.4), None), Some(declared));
        assert_eq!(short(0.6, Some(2.4), Some(2.3)), Some(declared), "an earlier run was slow as well");
        assert_eq!(short(2.0, Some(2.4), Some(4.0)), Some(Shortfall { times: 2.0, of: 4.0, stored: true }));
        assert_eq!(short(2.0, None, Some(4.0)).map(|short| short.times), Some(2.0));
        let fine = [short(2.3, Some(2.4), None), short(4.1, Some(2.4), Some(4.3)), short(0.6, None, None)];
        assert_eq!(fine, [None; 3]);
    }
}
