//! What is measured of a mechanism: a page each, in `experiment/`, and their list.

use crate::quantity::Quantity;
use crate::word::{Page, Word, Words};
use crate::{HostPart, Placement, host_parts};
use serde::Deserialize;
use std::collections::BTreeMap;

/// An experiment.
pub type Experiment = Word<Asked>;

/// What an experiment's page says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Heading of its figures.
    pub title: String,
    /// The same in few words.
    pub short: String,
    /// The same as the title of a column.
    pub column: String,
    /// What is compared, as the subject of a sentence: `making one`.
    pub clause: String,
    /// What one unit is.
    pub unit: String,
    /// A mechanism's page may name another unit.
    #[serde(default)]
    pub own_unit: bool,
    /// What its figures are of.
    pub quantity: Quantity,
    /// Names of what probes report, where that is not time: the figure is their sum.
    #[serde(default)]
    pub parts: Vec<String>,
    /// What these are, in a note on a row.
    #[serde(default)]
    pub of_parts: String,
    /// Names of what is reported beside them and is not part of the figure.
    #[serde(default)]
    pub beside: Vec<String>,
    /// Each unit has a figure of its own, and probes report how these are spread.
    #[serde(default)]
    pub distribution: bool,
    /// Contexts when nothing is said.
    pub contexts: u64,
    /// There may be as many as are asked for.
    #[serde(default)]
    pub many: bool,
    /// They pass a token round in a fixed order.
    #[serde(default)]
    pub ring: bool,
    /// How long they live.
    pub live: Live,
    /// Turns of contexts in one unit; 0 where each has one in every batch.
    #[serde(default)]
    pub turns_per_unit: u64,
    /// In pages of earlier versions what the evidence must have; the mechanism's rule says it.
    #[serde(default)]
    #[expect(dead_code, reason = "nothing is asked of it")]
    due: serde::de::IgnoredAny,
    /// Single units can be timed (`timing=each`).
    #[serde(default)]
    pub each: bool,
    /// How mechanisms that are compared by their names are asked for it; none: they are not.
    #[serde(default)]
    pub asked: Vec<Inquiry>,
    /// It is about the contexts, not about switching to them: a mechanism that has those of another
    /// may borrow its figure.
    #[serde(default)]
    pub of_contexts: bool,
    /// Its units come at times of their own, between which its tasks sleep: CPU time bounds no
    /// figure, and what a mechanism's page says of kernel switches in general is not of them.
    #[serde(default)]
    pub paced: bool,
    /// Its figures are differences: of the time that a batch takes they are a part, which CPU time
    /// does not bound.
    #[serde(default)]
    pub difference: bool,
    /// Its contexts, or its context and the waker, need a CPU each, so it is measured on several
    /// CPUs only.
    #[serde(default)]
    pub apart: bool,
    /// Names of common parameters that every mechanism has which offers it.
    #[serde(default)]
    pub parameters: Vec<String>,
    /// Values of parameters that are measured when neither they nor mechanisms are named.
    #[serde(default)]
    pub usual: BTreeMap<String, Vec<String>>,
    /// Measured batches of a start, where it takes others than most.
    #[serde(default)]
    pub batches: Option<u64>,
    /// Length of a batch, ms, likewise.
    #[serde(default)]
    pub batch_ms: Option<u64>,
    /// Units of a batch, where its length is not what matters; rounded up so that every stretch of
    /// it holds whole laps.
    #[serde(default)]
    pub batch_units: Option<u64>,
    /// Which mechanisms can have it, and why no others.
    #[serde(default)]
    pub only: String,
    /// What the host does in it beyond starting the probe.
    #[serde(default, deserialize_with = "crate::host::named")]
    pub host: Option<&'static HostPart>,
}

/// One question to mechanisms that are compared by their names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Inquiry {
    /// Of so many contexts; None: of as many as is usual. Of contexts that the kernel schedules it
    /// is not asked: so many load the machine for everybody.
    pub contexts: Option<u64>,
    /// Only of mechanisms that can be placed on so many CPUs; None: where all of them can be.
    pub cpus: Option<usize>,
}

/// How long contexts live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Live {
    /// Through all batches.
    Throughout,
    /// For one unit.
    Unit,
    /// For one batch, of which they are the units; there is one such batch in a start.
    Batch,
}

static WORDS: Words<Asked> = Words::none();

/// The program's own pages, the usual one first; last those of experiments that the host takes part
/// in.
macro_rules! pages {
    ($($name:ident: $field:ident $seen:ident,)+) => {
        const OWN: &'static [(&'static str, &'static str)] = &[
            ("switch", include_str!("experiment/switch.toml")),
            ("create", include_str!("experiment/create.toml")),
            ("message", include_str!("experiment/message.toml")),
            ("footprint", include_str!("experiment/footprint.toml")),
            ("contend", include_str!("experiment/contend.toml")),
            ("submit", include_str!("experiment/submit.toml")),
            ("preempt", include_str!("experiment/preempt.toml")),
            ("rotate", include_str!("experiment/rotate.toml")),
            $((stringify!($name), include_str!(concat!("experiment/", stringify!($name), ".toml"))),)+
            ("serve", include_str!("experiment/serve.toml")),
        ];
    };
}

impl Page for Asked {
    const WHAT: &'static str = "experiment";
    host_parts!(pages);

    fn wrong(&self) -> Option<String> {
        let of = self.quantity;
        let taken = || quantities().into_iter().any(|known| known == of && known.measure() != of.measure());
        let named = self.distribution || self.timed() || !self.parts.is_empty();
        let wrong = match () {
            () if self.contexts == 0 => "contexts is 0",
            () if self.apart && !self.lasts() => "contexts that are apart must live throughout",
            () if self.distribution && self.in_one_batch() => "a batch that makes all contexts has one figure for all",
            () if !named => "its figure is not time: name its `parts`",
            () => {
                let other = || format!("another experiment has the quantity `{}`; choose another name", of.name);
                return of.wrong().or_else(|| taken().then(other));
            }
        };
        Some(wrong.into())
    }

    fn words() -> &'static Words<Self> {
        &WORDS
    }
}

impl Asked {
    /// Its batches take as long as its figures say.
    #[must_use]
    pub fn timed(&self) -> bool {
        self.quantity == Quantity::TIME
    }

    /// A batch makes all contexts and is the only one of its start.
    #[must_use]
    pub fn in_one_batch(&self) -> bool {
        self.live == Live::Batch
    }

    /// Events can be counted beside it: its figures are those of batches, with which the host does
    /// nothing else.
    #[must_use]
    pub fn countable(&self) -> bool {
        self.timed() && !self.in_one_batch() && !self.distribution && self.host.is_none()
    }

    /// Names of everything that is reported, where that is not time.
    pub fn reported(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().chain(&self.beside).map(String::as_str)
    }

    /// Names of the samples that its figure is made of; None: ticks of the clock.
    pub fn samples(&self) -> impl Iterator<Item = Option<&str>> {
        let ticks = self.parts.is_empty().then_some(None);
        ticks.into_iter().chain(self.parts.iter().map(|part| Some(part.as_str())))
    }

    /// Those and what is `beside`, but for what the host adds: all that the probe sends.
    pub fn sent(&self) -> impl Iterator<Item = Option<&str>> {
        let beside = self.beside.iter().map(|name| Some(name.as_str()));
        let added = self.host.map_or(&[][..], |part| part.samples);
        self.samples().chain(beside).filter(|name| name.is_none_or(|name| !added.contains(&name)))
    }

    /// The host carries this parameter out by itself, and does not tell the probe.
    #[must_use]
    pub fn carried_out_by_host(&self, parameter: &str) -> bool {
        self.host.is_some_and(|part| part.parameters.contains(&parameter))
    }

    /// It can be measured there. Contexts that live for a unit or a batch are made, and run, where
    /// their maker runs.
    #[must_use]
    pub fn fits(&self, placement: Placement) -> bool {
        if self.apart { placement.on_several_cpus() } else { self.lasts() || !placement.on_several_cpus() }
    }

    /// Its contexts live through all batches.
    fn lasts(&self) -> bool {
        self.live == Live::Throughout
    }

    /// From its first batch to its last one of its contexts has the CPU.
    #[must_use]
    pub fn busy_throughout(&self) -> bool {
        self.lasts() && self.timed() && !self.paced && !self.difference
    }

    /// A control that does less bounds its figures from below.
    #[must_use]
    pub fn bounded(&self) -> bool {
        self.ring && self.timed()
    }
}

/// Everything that figures may be of, in the order of the experiments.
#[must_use]
pub fn quantities() -> Vec<Quantity> {
    let mut all: Vec<Quantity> = Vec::new();
    for quantity in Experiment::all().iter().map(|experiment| experiment.quantity) {
        if !all.contains(&quantity) {
            all.push(quantity);
        }
    }
    all
}

/// The experiment whose figures are of this quantity.
#[must_use]
pub fn measuring(quantity: Quantity) -> Option<Experiment> {
    Experiment::all().into_iter().find(|experiment| experiment.quantity == quantity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_read_and_named_as_it_is_called() {
        let names: Vec<&str> = Asked::OWN.iter().map(|(name, _)| *name).collect();
        // Another test may have added its own.
        let known: Vec<&str> = Experiment::all().iter().map(|known| known.as_str()).collect();
        assert_eq!(names, known[..names.len()]);
        for known in Experiment::all() {
            assert_eq!(known.as_str().parse(), Ok(known));
        }
        assert!("swich".parse::<Experiment>().unwrap_err().0.contains("expected one of switch, create"));
    }

    #[test]
    fn a_page_of_ones_own_joins_them_unless_it_is_wrong() {
        let page = |tail: &str| {
            let quantity = "quantity = { name = \"misses\", unit = \"misses\", scale = [[1, \"misses\"]], of_a_unit = \"Misses\", base_unit = \"misses\" }";
            format!(
                "title = \"T\"\nshort = \"s\"\ncolumn = \"c\"\nclause = \"one\"\nunit = \"u\"\n{quantity}\nparts = [\"misses\"]\ncontexts = 1\nlive = \"unit\"\n{tail}"
            )
        };
        let added = Experiment::add("own_one", &page("")).unwrap();
        assert_eq!((added, "misses"), ("own_one".parse().unwrap(), &*added.quantity.unit));
        assert!(!added.timed() && added > Experiment::usual());
        let fits = |experiment: Experiment| [1, 2, 0].map(|cpus| experiment.fits(Placement::of_cpus(cpus)));
        assert_eq!((fits(added), fits(Experiment::usual())), ([true, false, true], [true; 3]));
        let apart = page("apart = true").replace("live = \"unit\"", "live = \"throughout\"");
        let apart = apart.replace("misses", "apart_misses");
        assert_eq!(fits(Experiment::add("own_apart", &apart).unwrap()), [false, true, false]);
        let wrong = |name: &str, page: &str, why: &str| {
            let error = Experiment::add(name, page).unwrap_err();
            assert!(error.contains(why), "{error}");
        };
        wrong("own_one", &page(""), "already");
        wrong("Own", &page(""), "lower-case");
        wrong("own_two", &page("speed = 1"), "unknown field");
        for (error, instead, why) in [
            ("parts = [\"misses\"]", "", "name its `parts`"),
            ("[[1, \"misses\"]]", "[[2, \"misses\"]]", "another experiment"),
            ("name = \"misses\"", "name = \"time\"", "another experiment"),
            ("name = \"misses\"", "name = \"m m\"", "lower-case"),
            ("[[1, \"misses\"]]", "[]", "a scale"),
            ("contexts = 1", "contexts = 0", "contexts is 0"),
            ("contexts = 1", "contexts = 1\napart = true", "must live throughout"),
        ] {
            wrong("own_two", &page("").replace(error, instead), why);
        }
    }
}
