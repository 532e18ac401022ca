//! What the data files say of mechanisms, families and probes.

use crate::{
    Capabilities, EvidenceCase, EvidenceChange, EvidenceRule, Experiment, Explanation, Live, MechanismId, Obstacle,
    Parameters, Placement, Sight, Timing, Variant, Wanted,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A family of mechanisms.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// Part of the id before the slash.
    pub id: String,
    /// One line.
    pub title: String,
    /// The mechanism that is meant where one is wanted and the family is named.
    pub example: Option<MechanismId>,
    /// What these lack that those of other families have, such as `no scheduler`; said where they
    /// stand side by side. Empty: nothing.
    pub lacks: String,
    /// Standard deviation of a row's figure between runs of one hour, as a fraction: what no
    /// interval within a run can know of.
    pub run_to_run: f64,
}

/// What a parameter may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterKind {
    /// One of these words.
    Words(Vec<String>),
    /// An integer in this range.
    Integer {
        /// Lowest.
        min: u64,
        /// Highest.
        max: u64,
    },
}

/// A parameter of a mechanism.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// What it may be.
    pub kind: ParameterKind,
    /// Used when nothing is said.
    pub default: String,
    /// One sentence.
    pub help: String,
    /// Those that it changes; for any other it is refused.
    pub experiments: Vec<Experiment>,
    /// A control that has the same parameter and does, without a switch, what the parameter adds to
    /// one.
    pub control: Option<MechanismId>,
    /// ns that each unit takes at least for each of the value, where no control has the parameter.
    pub adds_ns: Option<f64>,
    /// Values of other parameters without which it adds nothing.
    pub adds_with: Parameters,
    /// What the evidence must count of it.
    pub counted: Option<Counted>,
    /// Value → what the host must see of each context, in the experiments that it changes.
    pub seen: BTreeMap<String, Sight>,
    /// What the host must see of each context as much of as the value says.
    pub seen_value: Option<Sight>,
    /// What a probe keeps of the rights of root when the value is not the default.
    pub capabilities: Capabilities,
    /// The host carries it out, and probes are not told.
    pub by_host: bool,
}

/// A count of the evidence (`Evidence::counts`) that follows from a parameter's value, in the
/// experiments that it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// Name of the count.
    pub name: String,
    /// How many of them there must be.
    pub share: CountedShare,
}

/// How a count follows from a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CountedShare {
    /// In every unit one for each so much of the value, rounded up; none, and no count, for the
    /// value 0.
    PerUnit(u64),
    /// So many for each context, whatever the value.
    PerContext(u64),
    /// With this value in at least so many of a hundred units, and in none twice.
    OfUnits(String, u64),
    /// As many as the value before each time that a context blocks; none, and no count, for the
    /// value 0.
    PerBlock,
}

/// A variant of the default ladder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// Where.
    pub placement: Placement,
    /// With which parameters.
    pub parameters: Parameters,
}

/// A mechanism as described in `mechanisms/`.
#[derive(Debug, Clone, PartialEq)]
pub struct Mechanism {
    /// Its id.
    pub id: MechanismId,
    /// One line.
    pub title: String,
    /// A few words for what switches, beside its figure; empty: none.
    pub short: String,
    /// What else people call it, in small letters: its language, and names of what it switches.
    pub tags: Vec<String>,
    /// Source folders of probes that implement it.
    pub implemented_by: Vec<String>,
    /// What a probe of this source keeps of the rights of root; of sources that are not named:
    /// nothing.
    pub capabilities: BTreeMap<String, Capabilities>,
    /// What one unit does.
    pub iteration: String,
    /// What the cost includes.
    pub includes: String,
    /// Controls shown beside it.
    pub floor: Vec<MechanismId>,
    /// Controls that cost less on any CPU: a figure of a switch below one of them is wrong.
    pub bound: Vec<MechanismId>,
    /// Controls that do what every unit does as well, among other things.
    pub contains: Vec<MechanismId>,
    /// Literature and sources.
    pub sources: Vec<String>,
    /// Placements that make sense, default first.
    pub placements: Vec<Placement>,
    /// Experiments, default first.
    pub experiments: Vec<Experiment>,
    /// Contexts when nothing is said, of experiments in which it differs from the others.
    pub contexts: BTreeMap<Experiment, u64>,
    /// Contexts that its ring has at most; None: as many as the machine bears.
    pub most_contexts: Option<u64>,
    /// CPU time that its slowest runtime may use after the plan and outside the batches, ms; 0: as
    /// little as any.
    pub leaving_ms: u64,
    /// Word for its own unit.
    pub unit: String,
    /// No switch takes place.
    pub control: bool,
    /// Why no program would be built on it, although it switches.
    pub not_a_choice: Option<String>,
    /// Has the same contexts as this one, whose figures of contexts hold for it.
    pub contexts_of: Option<MechanismId>,
    /// Shown with every verified row.
    pub notes: Vec<String>,
    /// Parameters.
    pub parameters: BTreeMap<String, Parameter>,
    /// What always holds.
    pub evidence: EvidenceChange,
    /// Laid over it in this order, where they apply.
    pub evidence_when: Vec<EvidenceCase>,
    /// Variants of the default ladder.
    pub headline: Vec<Headline>,
    /// Ways to take its cost apart.
    pub explanations: Vec<Explanation>,
}

impl Mechanism {
    /// The rule that applies to this variant: the general one, over it each case that applies, in
    /// the file's order and field by field, and what its parameters ask for. Its numbers are those
    /// of this variant.
    #[must_use]
    pub fn rule(&self, variant: &Variant) -> EvidenceRule {
        let ring = variant.experiment.live == Live::Throughout;
        let mut rule = EvidenceRule::default();
        // Of switches the page speaks in general; of tasks that wake at fixed times only where it
        // names that experiment.
        let paced = variant.experiment.paced;
        let turns_alone = EvidenceChange { turns: self.evidence.turns, ..EvidenceChange::default() };
        rule.lay(if paced { &turns_alone } else { &self.evidence }, variant, ring);
        let applies = |case: &&EvidenceCase| case.applies(variant) && (!paced || case.experiment.is_some());
        for case in self.evidence_when.iter().filter(applies) {
            rule.lay(&case.change, variant, ring || case.experiment.is_some());
        }
        self.add_counted(variant, &mut rule);
        rule.leaving_ms = rule.leaving_ms.saturating_add(self.leaving_ms);
        rule
    }

    /// What a probe of `source` keeps of the rights of root for a row with these parameters.
    #[must_use]
    pub fn capabilities_of(&self, source: &str, parameters: &Parameters) -> Capabilities {
        let own = self.capabilities.get(source).copied().unwrap_or_default();
        let changed = |(name, parameter): (&String, &Parameter)| {
            parameters.get(name).is_some_and(|value| *value != parameter.default).then_some(parameter.capabilities)
        };
        self.parameters.iter().filter_map(changed).chain([own]).collect()
    }

    /// The default placement of this experiment: the first that fits it.
    #[must_use]
    pub fn usual_placement(&self, experiment: Experiment) -> Placement {
        let first = self.placements.iter().find(|placement| experiment.fits(**placement));
        first.copied().unwrap_or(self.placements[0])
    }

    /// The parameter of this name, if it changes what is done in this experiment.
    #[must_use]
    pub fn takes(&self, parameter: &str, experiment: Experiment) -> Option<&Parameter> {
        self.parameters.get(parameter).filter(|parameter| parameter.experiments.contains(&experiment))
    }

    /// A program can choose it to switch between its contexts.
    #[must_use]
    pub fn is_choice(&self) -> bool {
        !self.control && self.not_a_choice.is_none() && self.switches()
    }

    /// Parameters of this row that add to what a unit costs, each with its value, and the same row
    /// without it.
    pub fn additions<'a>(
        &'a self,
        row: &'a Variant,
    ) -> impl Iterator<Item = (&'a Parameter, &'a str, &'a String, Variant)> {
        let busy = row.experiment.busy_throughout();
        let fits = busy && row.timing == Timing::Batch && row.placement == Placement::usual();
        let set = row.parameters.iter().filter(move |_| fits);
        set.filter_map(|(name, value)| {
            let parameter = self.takes(name, row.experiment)?;
            let with = parameter.adds_with.iter().all(|(name, value)| row.parameters.get(name) == Some(value));
            let adds = with && (parameter.control.is_some() || parameter.adds_ns.is_some());
            let mut without = row.clone();
            without.parameters.insert(name.clone(), parameter.default.clone());
            (adds && *value != parameter.default).then_some((parameter, name.as_str(), value, without))
        })
    }

    /// Its switch can be measured, which is what is meant where no experiment is named.
    #[must_use]
    pub fn switches(&self) -> bool {
        self.experiments.contains(&Experiment::usual())
    }

    fn add_counted(&self, variant: &Variant, rule: &mut EvidenceRule) {
        let changed = |parameter: &&Parameter| parameter.experiments.contains(&variant.experiment);
        for (name, parameter) in self.parameters.iter().filter(|(_, parameter)| changed(parameter)) {
            let value = variant.parameters.get(name);
            let sight = value.and_then(|value| parameter.seen.get(value));
            rule.seen.extend(sight.map(|sight| (sight.clone(), variant.contexts)));
            let number = value.and_then(|value| value.parse::<u64>().ok()).filter(|number| *number > 0);
            let all = number.map(|number| number.saturating_mul(variant.contexts));
            rule.seen.extend(parameter.seen_value.clone().zip(all));
            let Some(counted) = &parameter.counted else { continue };
            match &counted.share {
                CountedShare::PerUnit(size) => {
                    let value: u64 = value.and_then(|value| value.parse().ok()).unwrap_or(0);
                    let each = value.div_ceil(*size) as f64;
                    if value > 0 {
                        rule.counts.insert(counted.name.clone(), (each, each));
                    }
                }
                CountedShare::PerContext(each) => {
                    let least = i64::try_from(variant.contexts.saturating_mul(*each)).unwrap_or(i64::MAX);
                    rule.at_least.insert(counted.name.clone(), least);
                }
                CountedShare::OfUnits(of, percent) => {
                    if value == Some(of) {
                        rule.counts.insert(counted.name.clone(), (*percent as f64 / 100.0, 1.0));
                    }
                }
                CountedShare::PerBlock => {
                    let each: u64 = value.and_then(|value| value.parse().ok()).unwrap_or(0);
                    rule.per_block.extend((each > 0).then(|| (counted.name.clone(), each)));
                }
            }
        }
    }

    /// Contexts that `run` takes when nothing is said.
    #[must_use]
    pub fn usual_contexts(&self, experiment: Experiment) -> u64 {
        let own = self.contexts.get(&experiment).copied();
        own.unwrap_or(if self.control { 1 } else { experiment.contexts })
    }

    /// Contexts that it can have at most: a control has no ring, and takes part alone.
    #[must_use]
    pub fn bound_of_contexts(&self, experiment: Experiment) -> Option<u64> {
        if self.control {
            Some(self.usual_contexts(experiment))
        } else {
            self.most_contexts.filter(|_| experiment.ring)
        }
    }

    /// Word for one unit of this experiment.
    #[must_use]
    pub fn unit_of(&self, experiment: Experiment) -> &str {
        if experiment.own_unit { &self.unit } else { &experiment.page().unit }
    }
}

/// Packages that bring a runtime.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Install {
    /// Debian and Ubuntu.
    pub debian: String,
    /// Fedora.
    pub fedora: String,
    /// macOS (Homebrew).
    pub macos: String,
}

/// Priority of a probe whose folder the user named.
pub const NAMED_PRIORITY: i64 = i64::MAX;

/// A probe as found on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProbeInfo {
    /// Id, e.g. `gcc-12`.
    pub id: String,
    /// One line.
    pub title: String,
    /// Folder under `probes/` it is built from.
    pub source: String,
    /// The ladder shows the available probe with the highest priority.
    pub priority: i64,
    /// Folder of its `probe.toml`.
    pub folder: PathBuf,
    /// Program and first arguments; `./` is relative to the folder.
    pub command: Vec<String>,
    /// Names of environment variables passed through.
    pub environment: Vec<String>,
    /// How long it may take until its first message, ms.
    pub start_timeout_ms: u64,
    /// Packages to install when it is missing.
    pub install: Install,
    /// What it keeps of the rights of root while it says what it can do: all that pages name for
    /// its source.
    pub capabilities: Capabilities,
}

impl Parameter {
    /// Checks a value.
    ///
    /// # Errors
    /// Says what the parameter may be.
    pub fn accepts(&self, value: &str) -> Result<(), Obstacle> {
        match &self.kind {
            ParameterKind::Words(words) if words.iter().any(|word| word == value) => Ok(()),
            ParameterKind::Words(words) => Err(Obstacle::NoSuchWord { value: value.to_owned(), known: words.clone() }),
            ParameterKind::Integer { min, max } => match value.parse::<u64>() {
                Ok(number) if (*min..=*max).contains(&number) => Ok(()),
                _ => Err(Obstacle::OutOfRange { value: value.to_owned(), min: *min, max: *max }),
            },
        }
    }
}

impl Wanted {
    /// The variant, of this mechanism, is one of those wanted. A parameter that a stored variant
    /// does not have yet counts as its default.
    #[must_use]
    pub fn fits(&self, variant: &Variant, mechanism: &Mechanism) -> bool {
        let value =
            |name: &String| self.parameters.get(name).or_else(|| Some(&mechanism.parameters.get(name)?.default));
        self.mechanism == variant.mechanism
            && self.experiment == variant.experiment
            && self.contexts.unwrap_or_else(|| mechanism.usual_contexts(self.experiment)) == variant.contexts
            && self.placement == variant.placement
            && self.timing == variant.timing
            && variant.parameters.iter().all(|(name, has)| value(name) == Some(has))
            && self.parameters.iter().all(|(name, wanted)| {
                variant.parameters.get(name).or_else(|| Some(&mechanism.parameters.get(name)?.default)) == Some(wanted)
            })
            && variant.label.is_empty()
    }
}
