//! `mechanisms/`.

use crate::files::{CatalogueError, entries, read};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use switchcost_model as model;
use switchcost_model::{Concept, EvidenceCase, EvidenceRule, Family, Headline, MechanismId, ParameterKind};

/// All mechanisms and families.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalogue {
    /// Families in the order of the ladder.
    pub families: Vec<Family>,
    /// Mechanisms, by family in that order, then by id.
    pub concepts: Vec<Concept>,
}

impl Catalogue {
    /// The mechanism of this id.
    #[must_use]
    pub fn find(&self, id: &MechanismId) -> Option<&Concept> {
        self.concepts.iter().find(|concept| concept.id == *id)
    }

    /// Position of a family in the ladder; unknown families come last.
    #[must_use]
    pub fn family_rank(&self, family: &str) -> usize {
        self.families.iter().position(|known| known.id == family).unwrap_or(self.families.len())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FamiliesFile {
    family: Vec<FamilyEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyEntry {
    id: String,
    title: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConceptFile {
    title: String,
    implemented_by: Vec<String>,
    iteration: String,
    includes: String,
    #[serde(default)]
    floor: Vec<String>,
    #[serde(default)]
    sources: Vec<String>,
    placements: Vec<String>,
    experiments: Vec<String>,
    #[serde(default = "switch_unit")]
    unit: String,
    #[serde(default)]
    control: bool,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    parameters: BTreeMap<String, ParameterEntry>,
    evidence: RuleEntry,
    #[serde(default)]
    evidence_when: Vec<RuleEntry>,
    #[serde(default)]
    headline: Vec<HeadlineEntry>,
}

fn switch_unit() -> String {
    "switch".into()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterEntry {
    values: Option<Vec<String>>,
    min: Option<u64>,
    max: Option<u64>,
    default: String,
    help: String,
}

/// A rule, or an override of one: what is absent stays as it is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleEntry {
    placement: Option<String>,
    experiment: Option<String>,
    contexts: Option<u64>,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    turns: Option<bool>,
    /// Empty list: any.
    kernel_switches: Option<Vec<f64>>,
    address_spaces: Option<u64>,
    same_cpu_hops: Option<(f64, f64)>,
    #[serde(default)]
    counts: BTreeMap<String, (f64, f64)>,
    at_least: Option<BTreeMap<String, i64>>,
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadlineEntry {
    placement: String,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
}

/// Reads the folder `mechanisms`.
///
/// # Errors
/// The first file that is missing or not of the right form.
pub fn load(folder: &Path) -> Result<Catalogue, CatalogueError> {
    let families: FamiliesFile = read(&folder.join("families.toml"))?;
    let families: Vec<Family> =
        families.family.into_iter().map(|entry| Family { id: entry.id, title: entry.title }).collect();
    let mut concepts = Vec::new();
    for family in &families {
        let subfolder = folder.join(&family.id);
        if !subfolder.is_dir() {
            continue; // A family without a mechanism yet.
        }
        for path in entries(&subfolder)? {
            if path.extension().is_some_and(|extension| extension == "toml") {
                concepts.push(load_concept(&family.id, &path)?);
            }
        }
    }
    check_references(folder, &concepts)?;
    Ok(Catalogue { families, concepts })
}

fn load_concept(family: &str, path: &Path) -> Result<Concept, CatalogueError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let id: MechanismId =
        format!("{family}/{stem}").parse().map_err(|error: model::IdError| CatalogueError::invalid(path, error.0))?;
    let file: ConceptFile = read(path)?;
    convert(id, file).map_err(|what| CatalogueError::invalid(path, what))
}

fn word<T: std::str::FromStr<Err = model::IdError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: model::IdError| error.0)
}

fn words<T: std::str::FromStr<Err = model::IdError>>(texts: &[String]) -> Result<Vec<T>, String> {
    texts.iter().map(|text| word(text)).collect()
}

fn convert(id: MechanismId, file: ConceptFile) -> Result<Concept, String> {
    let mut parameters = BTreeMap::new();
    for (name, entry) in file.parameters {
        let parameter = parameter(entry).map_err(|what| format!("parameter {name}: {what}"))?;
        parameters.insert(name, parameter);
    }
    let general = merge(&EvidenceRule { address_spaces: 1, ..EvidenceRule::default() }, &file.evidence)?;
    let mut evidence_when = Vec::new();
    for entry in &file.evidence_when {
        evidence_when.push(EvidenceCase {
            placement: entry.placement.as_deref().map(word).transpose()?,
            experiment: entry.experiment.as_deref().map(word).transpose()?,
            contexts: entry.contexts,
            parameters: entry.parameters.clone(),
            rule: merge(&general, entry)?,
        });
    }
    let mut headline = Vec::new();
    for entry in file.headline {
        check_parameters(&entry.parameters, &parameters)?;
        headline.push(Headline { placement: word(&entry.placement)?, parameters: entry.parameters });
    }
    let concept = Concept {
        id,
        title: file.title,
        implemented_by: file.implemented_by,
        iteration: file.iteration,
        includes: file.includes,
        floor: words(&file.floor)?,
        sources: file.sources,
        placements: words(&file.placements)?,
        experiments: words(&file.experiments)?,
        unit: file.unit,
        control: file.control,
        notes: file.notes,
        parameters,
        evidence: general,
        evidence_when,
        headline,
    };
    if concept.placements.is_empty() || concept.experiments.is_empty() || concept.implemented_by.is_empty() {
        return Err("placements, experiments and implemented_by need at least one entry".into());
    }
    Ok(concept)
}

fn parameter(entry: ParameterEntry) -> Result<model::Parameter, String> {
    let kind = match (entry.values, entry.min, entry.max) {
        (Some(values), None, None) => ParameterKind::Words(values),
        (None, Some(min), Some(max)) if min <= max => ParameterKind::Integer { min, max },
        _ => return Err("needs either `values` or `min` and `max`".into()),
    };
    let parameter = model::Parameter { kind, default: entry.default, help: entry.help };
    parameter.accepts(&parameter.default).map_err(|what| format!("default {what}"))?;
    Ok(parameter)
}

fn check_parameters(
    given: &BTreeMap<String, String>,
    known: &BTreeMap<String, model::Parameter>,
) -> Result<(), String> {
    for (name, value) in given {
        let parameter = known.get(name).ok_or_else(|| format!("there is no parameter `{name}`"))?;
        parameter.accepts(value).map_err(|what| format!("parameter {name}: {what}"))?;
    }
    Ok(())
}

fn merge(general: &EvidenceRule, entry: &RuleEntry) -> Result<EvidenceRule, String> {
    let kernel_switches = match entry.kernel_switches.as_deref() {
        None => general.kernel_switches,
        Some([]) => None,
        Some(&[low, high]) if 0.0 <= low && low <= high => Some((low, high)),
        Some(_) => return Err("kernel_switches needs [lowest, highest], or [] for any".into()),
    };
    let mut counts = general.counts.clone();
    counts.extend(entry.counts.clone());
    Ok(EvidenceRule {
        turns: entry.turns.unwrap_or(general.turns),
        kernel_switches,
        address_spaces: entry.address_spaces.unwrap_or(general.address_spaces),
        same_cpu_hops: entry.same_cpu_hops.or(general.same_cpu_hops),
        counts,
        at_least: entry.at_least.clone().unwrap_or_else(|| general.at_least.clone()),
        note: entry.note.clone().unwrap_or_else(|| general.note.clone()),
    })
}

fn check_references(folder: &Path, concepts: &[Concept]) -> Result<(), CatalogueError> {
    for concept in concepts {
        for floor in &concept.floor {
            if !concepts.iter().any(|other| other.id == *floor) {
                let path = folder.join(format!("{}.toml", concept.id));
                return Err(CatalogueError::invalid(&path, format!("floor names {floor}, which has no file")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchcost_model::{Experiment, Placement, Timing, Variant};

    fn repository() -> Catalogue {
        load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../mechanisms")).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn the_repository_s_files_are_valid() {
        let catalogue = repository();
        assert!(catalogue.concepts.len() > 10);
        for concept in &catalogue.concepts {
            for headline in &concept.headline {
                assert!(concept.placements.contains(&headline.placement), "{}: headline placement", concept.id);
            }
            assert!(!concept.title.ends_with('.') && !concept.title.is_empty(), "{}: title", concept.id);
            for (name, value) in [("iteration", &concept.iteration), ("includes", &concept.includes)] {
                assert!(!value.is_empty(), "{}: {name} is empty", concept.id);
            }
        }
    }

    #[test]
    fn overrides_keep_what_they_do_not_say() {
        let file = r#"
            title = "t"
            implemented_by = ["native"]
            iteration = "i"
            includes = "i"
            placements = ["one_cpu", "free"]
            experiments = ["switch"]
            [parameters.os_threads]
            values = ["one", "all"]
            default = "one"
            help = "h"
            [evidence]
            turns = true
            kernel_switches = [0, 0]
            [[evidence_when]]
            parameters = { os_threads = "all" }
            kernel_switches = []
        "#;
        let concept = convert("fiber/x".parse().unwrap(), toml::from_str(file).unwrap()).unwrap();
        let rule = |value: &str| {
            concept.rule(&Variant {
                mechanism: concept.id.clone(),
                probe: String::new(),
                experiment: Experiment::Switch,
                contexts: 2,
                placement: Placement::Free,
                timing: Timing::Batch,
                parameters: [("os_threads".to_owned(), value.to_owned())].into(),
                label: String::new(),
            })
        };
        assert_eq!(rule("one").kernel_switches, Some((0.0, 0.0)));
        assert_eq!(rule("all").kernel_switches, None);
        assert!(rule("all").turns);
    }

    #[test]
    fn errors_name_file_line_and_field() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("families.toml"), "[[family]]\nid = \"x\"\ntitle = \"X\"\n").unwrap();
        std::fs::create_dir(folder.path().join("x")).unwrap();
        std::fs::write(folder.path().join("x/y.toml"), "title = \"t\"\nplacement = 3\n").unwrap();
        let error = load(folder.path()).unwrap_err().to_string();
        assert!(error.contains("x/y.toml") && error.contains("line 2") && error.contains("placement"), "{error}");
    }
}
