//! Where contexts run: a page each, in `placement/`, and their list.

use crate::IdError;
use crate::word::{Page, Word, Words};
use core::fmt;
use core::str::FromStr;
use serde::Deserialize;

/// A placement by its name, or two CPUs by their numbers, which are a case of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Placement {
    // First, so that pairs come after all others in any order.
    pair: Option<(u32, u32)>,
    kind: Word<Place>,
}

/// What a placement's page says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Heading of its rows.
    pub title: String,
    /// The same where it stands beside others to choose from.
    pub choice: String,
    /// CPUs of the contexts, in turn; none: the scheduler places.
    pub cpus: Vec<CpuRole>,
}

/// A CPU by what it is for, which the machine answers with a number or a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CpuRole {
    /// The one that is measured when one does.
    Measured,
    /// The one that goes with it when two are needed.
    Partner,
}

static WORDS: Words<Place> = Words::none();

impl Page for Place {
    const WHAT: &'static str = "placement";
    const OWN: &'static [(&'static str, &'static str)] = &[
        ("one_cpu", include_str!("placement/one_cpu.toml")),
        ("two_cpus", include_str!("placement/two_cpus.toml")),
        ("free", include_str!("placement/free.toml")),
    ];
    const OR: &'static str = " or pair:A-B (CPU numbers)";

    fn words() -> &'static Words<Self> {
        &WORDS
    }
}

/// Starts in a round of a row that the scheduler places: such rows need the most starts, and those
/// should be spread over the run like all others, not follow one another when the rest is done.
const FREE_STARTS: u64 = 2;

impl Placement {
    /// Those that mean the same on every machine, in the order of the documentation.
    #[must_use]
    pub fn all() -> Vec<Self> {
        Word::all().into_iter().map(|kind| Self { kind, pair: None }).collect()
    }

    /// The one that is meant when nothing is said.
    #[must_use]
    pub fn usual() -> Self {
        Self { kind: Word::usual(), pair: None }
    }

    /// The first that takes so many CPUs; 0: the scheduler places.
    #[must_use]
    pub fn of_cpus(count: usize) -> Self {
        let all = Self::all();
        all.iter().find(|known| known.kind.cpus.len() == count.min(2)).copied().unwrap_or(all[0])
    }

    /// Neighbours of the ring on these two CPUs; every context on one of them if they are the same.
    #[must_use]
    pub fn on_pair(a: u32, b: u32) -> Self {
        Self { pair: Some((a, b)), ..Self::of_cpus(if a == b { 1 } else { 2 }) }
    }

    /// Both CPUs, where it names them.
    #[must_use]
    pub fn pair(self) -> Option<(u32, u32)> {
        self.pair
    }

    /// The general placement that a pair of CPUs is a case of; any other is its own. What is said
    /// of it also holds of pairs.
    #[must_use]
    pub fn kind(self) -> Self {
        Self { pair: None, ..self }
    }

    /// Every context stays on one CPU.
    #[must_use]
    pub fn on_one_cpu(self) -> bool {
        self.kind.cpus.len() == 1
    }

    /// Contexts may be on several CPUs, each on its own.
    #[must_use]
    pub fn on_several_cpus(self) -> bool {
        self.kind.cpus.len() > 1
    }

    /// The scheduler may move the contexts.
    #[must_use]
    pub fn may_move(self) -> bool {
        self.kind.cpus.is_empty()
    }

    /// What its CPUs are for; a pair says them by number.
    #[must_use]
    pub fn cpus(self) -> &'static [CpuRole] {
        let page: &'static Place = self.kind.page();
        &page.cpus
    }

    /// Starts in a round, while precision ends the run.
    #[must_use]
    pub fn starts_a_round(self) -> u64 {
        if self.may_move() { FREE_STARTS } else { 1 }
    }

    /// Heading of its rows.
    #[must_use]
    pub fn title(self) -> String {
        self.pair.map_or_else(|| self.kind.title.clone(), |_| self.to_string())
    }

    /// The same where it stands beside others to choose from.
    #[must_use]
    pub fn choice(self) -> String {
        self.pair.map_or_else(|| self.kind.choice.clone(), |_| self.to_string())
    }
}

impl FromStr for Placement {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let pair = |text: &str| -> Option<Self> {
            let (a, b) = text.strip_prefix("pair:")?.split_once('-')?;
            let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
            Some(Self::on_pair(number(a)?, number(b)?))
        };
        match pair(text) {
            Some(pair) => Ok(pair),
            None => Ok(Self { kind: text.parse()?, pair: None }),
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pair {
            Some((a, b)) => f.pad(&format!("pair:{a}-{b}")),
            None => f.pad(self.kind.as_str()),
        }
    }
}
crate::id::as_text!(Placement);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_read() {
        let names: Vec<&str> = Place::OWN.iter().map(|(name, _)| *name).collect();
        let read: Vec<String> = Placement::all().iter().map(ToString::to_string).collect();
        assert_eq!(names, read[..names.len()]);
        assert_eq!(Placement::usual(), Placement::of_cpus(1));
    }

    #[test]
    fn a_pair_is_a_case_of_one_or_two_cpus() {
        assert_eq!(Placement::on_pair(3, 3).kind(), Placement::of_cpus(1));
        assert_eq!(Placement::on_pair(0, 3).kind(), Placement::of_cpus(2));
        let free = Placement::of_cpus(0);
        assert!(free.may_move() && free.kind() == free && free < Placement::on_pair(0, 0));
    }

    #[test]
    fn words_round_trip() {
        let pairs = [Placement::on_pair(0, 0), Placement::on_pair(4_294_967_295, 3)];
        for p in Placement::all().into_iter().chain(pairs) {
            assert_eq!(p.to_string().parse(), Ok(p));
        }
        for wrong in ["pair:", "pair:0", "pair:0-", "pair:+1-2", "pair:0-1-2", "pair:0-4294967296"] {
            assert!(wrong.parse::<Placement>().is_err(), "{wrong} passed");
        }
        assert!("twocpus".parse::<Placement>().unwrap_err().0.contains("two_cpus"));
    }
}
