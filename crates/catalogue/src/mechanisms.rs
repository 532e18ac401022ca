//! `mechanisms/`.

use crate::files::{CatalogueError, read};
use crate::layers::{LayerEntry, ResidueEntry};
use crate::rules::{RuleEntry, case, general};
use crate::values::{check_taken, word};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use switchcost_model as model;
use switchcost_model::{
    Capabilities, Counted, CountedShare, Experiment, Family, Headline, Mechanism, MechanismId, ParameterKind,
};

/// All mechanisms and families.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalogue {
    /// Families in the order of the ladder.
    pub families: Vec<Family>,
    /// The mechanism whose switch is the reference of every run.
    pub reference: Option<MechanismId>,
    /// Mechanisms, by family in that order, then by id.
    pub mechanisms: Vec<Mechanism>,
    /// Pages and folders of probes that cannot be used.
    pub broken: Vec<Broken>,
    /// Id of each probe that is installed → its source.
    pub sources: BTreeMap<String, String>,
    /// What people ask for and no page is of, by its name in small letters → why not: a clause.
    pub absent: BTreeMap<String, String>,
}

/// A page of a mechanism, or a folder of a probe, that cannot be used: it costs its own rows, not
/// those of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The mechanism that the page would be of; None for anything else.
    pub mechanism: Option<MechanismId>,
    /// Name of the file or folder, without the ending.
    pub name: String,
    /// A sentence that names file, reason and cure.
    pub reason: String,
    /// The page and its mechanism, where another page of that is used.
    pub unused: Option<(PathBuf, MechanismId)>,
}

impl Broken {
    pub(crate) fn new(path: &Path, reason: impl ToString) -> Self {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self { mechanism: None, name, reason: reason.to_string(), unused: None }
    }
}

impl Catalogue {
    /// The mechanism of this id.
    #[must_use]
    pub fn find(&self, id: &MechanismId) -> Option<&Mechanism> {
        self.mechanisms.iter().find(|mechanism| mechanism.id == *id)
    }

    /// This probe is not of a source that the mechanism's page names: somebody else's word for what
    /// the mechanism is.
    #[must_use]
    pub fn is_foreign(&self, variant: &model::Variant) -> bool {
        let source = self.sources.get(&variant.probe);
        let mechanism = self.find(&variant.mechanism);
        mechanism.zip(source).is_some_and(|(mechanism, source)| !mechanism.implemented_by.contains(source))
    }

    /// What probes of this source keep of the rights of root, for any of their rows.
    #[must_use]
    pub fn capabilities(&self, source: &str) -> Capabilities {
        let own = self.mechanisms.iter().filter_map(|mechanism| mechanism.capabilities.get(source));
        let theirs = self.mechanisms.iter().filter(|mechanism| mechanism.implemented_by.iter().any(|by| by == source));
        let of_parameters = theirs.flat_map(|mechanism| mechanism.parameters.values().map(|p| &p.capabilities));
        own.chain(of_parameters).copied().collect()
    }

    /// What mechanisms of this family lack, empty for one that is not known.
    #[must_use]
    pub fn lacks(&self, family: &str) -> &str {
        self.families.iter().find(|known| known.id == family).map_or("", |known| &known.lacks)
    }

    /// Standard deviation of a row's figure between runs, as a fraction; 0 for families that nobody
    /// measured it of.
    #[must_use]
    pub fn run_to_run(&self, family: &str) -> f64 {
        self.families.iter().find(|known| known.id == family).map_or(0.0, |known| known.run_to_run)
    }

    /// Position of a family in the ladder; unknown families come last.
    #[must_use]
    pub fn family_rank(&self, family: &str) -> usize {
        self.families.iter().position(|known| known.id == family).unwrap_or(self.families.len())
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FamiliesFile {
    /// The installation's own file names it; a user's cannot.
    #[serde(default)]
    pub(crate) reference: Option<MechanismId>,
    /// By source; a user's file grants it to sources that the installation's does not name.
    #[serde(default)]
    pub(crate) leaving_ms: BTreeMap<String, u64>,
    /// The installation's own file counts.
    #[serde(default)]
    pub(crate) absent: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) family: Vec<FamilyEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FamilyEntry {
    pub(crate) id: String,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) example: Option<MechanismId>,
    #[serde(default)]
    pub(crate) lacks: String,
    #[serde(default)]
    pub(crate) run_to_run: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MechanismFile {
    title: String,
    #[serde(default)]
    short: String,
    #[serde(default)]
    tags: Vec<String>,
    implemented_by: Vec<String>,
    /// By source.
    #[serde(default)]
    capabilities: BTreeMap<String, Vec<String>>,
    iteration: String,
    includes: String,
    #[serde(default)]
    floor: Vec<String>,
    #[serde(default)]
    bound: Vec<String>,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    sources: Vec<String>,
    placements: Vec<String>,
    experiments: Vec<String>,
    /// By experiment.
    #[serde(default)]
    contexts: BTreeMap<Experiment, u64>,
    #[serde(default = "usual_unit")]
    unit: String,
    #[serde(default)]
    control: bool,
    not_a_choice: Option<String>,
    most_contexts: Option<u64>,
    contexts_of: Option<String>,
    #[serde(default)]
    notes: Vec<String>,
    /// Names of parameters defined in `parameters.toml`.
    #[serde(default)]
    common: Vec<String>,
    #[serde(default)]
    parameters: BTreeMap<String, ParameterEntry>,
    evidence: RuleEntry,
    #[serde(default)]
    evidence_when: Vec<RuleEntry>,
    #[serde(default)]
    headline: Vec<HeadlineEntry>,
    #[serde(default)]
    layer: Vec<LayerEntry>,
    #[serde(default)]
    residue: Vec<ResidueEntry>,
}

fn usual_unit() -> String {
    Experiment::usual().unit.clone()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterEntry {
    values: Option<Vec<String>>,
    min: Option<u64>,
    max: Option<u64>,
    default: String,
    help: String,
    experiments: Vec<String>,
    control: Option<String>,
    adds_ns: Option<f64>,
    #[serde(default)]
    adds_with: BTreeMap<String, String>,
    counted: Option<CountedEntry>,
    /// By value.
    #[serde(default)]
    seen: BTreeMap<String, String>,
    seen_value: Option<String>,
    #[serde(default)]
    capabilities: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CountedEntry {
    name: String,
    per_unit: Option<u64>,
    per_context: Option<u64>,
    value: Option<String>,
    percent_of_units: Option<u64>,
    #[serde(default)]
    per_block: bool,
}

/// Parameters that several mechanisms have, by name.
pub(crate) type Common = BTreeMap<String, model::Parameter>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadlineEntry {
    placement: String,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
}

/// The file may be missing: nothing is common then.
pub(crate) fn load_common(path: &Path) -> Result<Common, CatalogueError> {
    if !path.exists() {
        return Ok(Common::new());
    }
    let entries: BTreeMap<String, ParameterEntry> = read(path)?;
    parameters(entries).map_err(|what| CatalogueError::invalid(path, what))
}

/// A mechanism's file, with what names other mechanisms still unread.
pub(crate) type Loaded = (Mechanism, Vec<LayerEntry>, Vec<ResidueEntry>);

pub(crate) fn load_concept(family: &str, path: &Path, common: &Common) -> Result<Loaded, CatalogueError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let id: MechanismId =
        format!("{family}/{stem}").parse().map_err(|error: model::IdError| CatalogueError::invalid(path, error.0))?;
    let mut file: MechanismFile = read(path)?;
    let (layers, residues) = (std::mem::take(&mut file.layer), std::mem::take(&mut file.residue));
    Ok((convert(id, file, common).map_err(|what| CatalogueError::invalid(path, what))?, layers, residues))
}

/// Names of capabilities, as one set.
fn capabilities(names: &[String]) -> Result<Capabilities, String> {
    names.iter().map(|name| name.parse()).collect::<Result<Vec<_>, _>>().map(|all| all.into_iter().collect())
}

fn by_source(
    named: &BTreeMap<String, Vec<String>>,
    implemented_by: &[String],
) -> Result<BTreeMap<String, Capabilities>, String> {
    let one = |(source, names): (&String, &Vec<String>)| {
        if !implemented_by.contains(source) {
            return Err(format!("capabilities: `{source}` is not among implemented_by"));
        }
        let set = capabilities(names).map_err(|what| format!("capabilities of {source}: {what}"))?;
        Ok((source.clone(), set))
    };
    named.iter().map(one).collect()
}

fn words<T: std::str::FromStr<Err = model::IdError>>(texts: &[String]) -> Result<Vec<T>, String> {
    texts.iter().map(|text| word(text)).collect()
}

fn convert(id: MechanismId, file: MechanismFile, common: &Common) -> Result<Mechanism, String> {
    let mut parameters = parameters(file.parameters)?;
    for name in file.common {
        let parameter =
            common.get(&name).ok_or_else(|| format!("common names `{name}`, which parameters.toml has not"))?;
        if parameters.insert(name.clone(), parameter.clone()).is_some() {
            return Err(format!("parameter {name} is given twice: define it here or take the common one"));
        }
    }
    let experiments: Vec<Experiment> = words(&file.experiments)?;
    for experiment in &experiments {
        for name in &experiment.page().parameters {
            let parameter =
                common.get(name).ok_or_else(|| format!("an experiment needs {name}, which parameters.toml has not"))?;
            let by_host = experiment.carried_out_by_host(name);
            parameters.entry(name.clone()).or_insert_with(|| model::Parameter { by_host, ..parameter.clone() });
        }
    }
    let evidence = general(file.evidence).map_err(|what| format!("evidence: {what}"))?;
    let mut evidence_when = Vec::new();
    for (index, entry) in file.evidence_when.into_iter().enumerate() {
        let case = case(entry, &parameters).map_err(|what| format!("evidence_when {}: {what}", index + 1))?;
        evidence_when.push(case);
    }
    let mut headline = Vec::new();
    for entry in file.headline {
        let experiment = *experiments.first().ok_or("experiments needs at least one entry")?;
        check_taken(&entry.parameters, &parameters, experiment).map_err(|what| format!("headline: {what}"))?;
        headline.push(Headline { placement: word(&entry.placement)?, parameters: entry.parameters });
    }
    let mechanism = Mechanism {
        id,
        title: file.title,
        short: file.short,
        tags: file.tags,
        capabilities: by_source(&file.capabilities, &file.implemented_by)?,
        implemented_by: file.implemented_by,
        iteration: file.iteration,
        includes: file.includes,
        floor: words(&file.floor)?,
        bound: words(&file.bound)?,
        contains: words(&file.contains)?,
        sources: file.sources,
        placements: words(&file.placements)?,
        experiments,
        contexts: file.contexts,
        leaving_ms: 0,
        unit: file.unit,
        control: file.control,
        not_a_choice: file.not_a_choice,
        most_contexts: file.most_contexts,
        contexts_of: file.contexts_of.as_deref().map(word).transpose()?,
        notes: file.notes,
        parameters,
        evidence,
        evidence_when,
        headline,
        explanations: Vec::new(),
    };
    if mechanism.placements.is_empty() || mechanism.experiments.is_empty() || mechanism.implemented_by.is_empty() {
        return Err("placements, experiments and implemented_by need at least one entry".into());
    }
    if mechanism.not_a_choice.as_ref().is_some_and(|why| why.trim().is_empty() || mechanism.control) {
        return Err(
            "not_a_choice says why nothing is built on a switch; a control is not a switch and needs none".into()
        );
    }
    Ok(mechanism)
}

fn parameters(entries: BTreeMap<String, ParameterEntry>) -> Result<Common, String> {
    let named = |(name, entry): (String, ParameterEntry)| match check_name(&name).and_then(|()| parameter(entry)) {
        Ok(parameter) => Ok((name, parameter)),
        Err(what) => Err(format!("parameter {}: {what}", model::harmless(&name))),
    };
    entries.into_iter().map(named).collect()
}

/// Keys that `run` has itself; a parameter of that name would change the plan (PROTOCOL.md, section
/// 1).
const KEYS: &[&str] = &[
    "report_fd",
    "protocol",
    "mechanism",
    "experiment",
    "contexts",
    "timing",
    "cpus",
    "batch_units",
    "batch_ns",
    "batches",
    "warmup_batches",
    "verify_units",
    "seed",
    "placement",
];

/// A parameter is an argument `name=value` of the probe.
fn check_name(name: &str) -> Result<(), String> {
    let fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if name.is_empty() || !name.bytes().all(fine) {
        return Err("its name is not made of lower-case letters, digits and underscores".into());
    }
    if KEYS.contains(&name) { Err("`run` has a key of that name; choose another".into()) } else { Ok(()) }
}

fn check_value(value: &str) -> Result<(), String> {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"._,/+-".contains(&b);
    if value.bytes().all(fine) {
        return Ok(());
    }
    Err(format!(
        "value `{}` has a character that no argument of a probe may have; letters, digits and ._,/+- are allowed",
        model::harmless(value)
    ))
}

fn parameter(entry: ParameterEntry) -> Result<model::Parameter, String> {
    entry.values.iter().flatten().try_for_each(|value| check_value(value))?;
    let kind = match (entry.values, entry.min, entry.max) {
        (Some(values), None, None) => ParameterKind::Words(values),
        (None, Some(min), Some(max)) if min <= max => ParameterKind::Integer { min, max },
        _ => return Err("needs either `values` or `min` and `max`".into()),
    };
    let control = entry.control.as_deref().map(word).transpose()?;
    let counted = entry.counted.map(|entry| counted(entry, &kind)).transpose()?;
    let experiments: Vec<Experiment> = words(&entry.experiments)?;
    if experiments.is_empty() {
        return Err("experiments needs at least one entry".into());
    }
    let capabilities = capabilities(&entry.capabilities)?;
    let seen =
        entry.seen.into_iter().map(|(value, sight)| Ok((value, sight.parse()?))).collect::<Result<_, String>>()?;
    let parameter = model::Parameter {
        kind,
        default: entry.default,
        help: entry.help,
        experiments,
        control,
        adds_ns: entry.adds_ns.filter(|ns| *ns > 0.0),
        adds_with: entry.adds_with,
        counted,
        seen,
        seen_value: entry.seen_value.as_deref().map(str::parse).transpose()?,
        capabilities,
        by_host: false,
    };
    parameter.accepts(&parameter.default).map_err(|what| format!("default {what}"))?;
    if let Some(Counted { share: CountedShare::OfUnits(value, _), .. }) = &parameter.counted {
        parameter.accepts(value).map_err(|what| format!("counted: value {what}"))?;
    }
    for value in parameter.seen.keys() {
        parameter.accepts(value).map_err(|what| format!("seen: value {what}"))?;
    }
    Ok(parameter)
}

fn counted(entry: CountedEntry, kind: &ParameterKind) -> Result<Counted, String> {
    let integer = matches!(kind, ParameterKind::Integer { .. });
    let share = match (entry.per_unit, entry.per_context, entry.value, entry.percent_of_units, entry.per_block) {
        (Some(size @ 1..), None, None, None, false) if integer => CountedShare::PerUnit(size),
        (None, Some(each), None, None, false) => CountedShare::PerContext(each),
        (None, None, Some(value), Some(percent @ 1..=100), false) => CountedShare::OfUnits(value, percent),
        (None, None, None, None, true) if integer => CountedShare::PerBlock,
        _ => {
            return Err("counted needs either `per_unit` above 0, of an integer, or `per_context`, or one `value` of \
                        the parameter and `percent_of_units`, or `per_block`, of an integer"
                .into());
        }
    };
    Ok(Counted { name: entry.name, share })
}

#[cfg(test)]
mod tests;
