//! `classic/*.toml`: the programs of the write-ups, as data. The form is described in `classic/README.md`.

use crate::files::{CatalogueError, entries, read};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use switchcost_model::{Experiment, IdError, MechanismId, Parameters, Placement, Timing};

/// A program of a write-up.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Name on the command line: that of the original.
    pub name: String,
    /// One line.
    pub title: String,
    /// The write-up.
    pub source: String,
    /// What it does and what one unit of its answer is.
    pub explains: String,
    /// Its arguments, in order.
    pub arguments: Vec<Argument>,
    /// What the original prints when it refuses its arguments; None: it never looks at them.
    pub usage: Option<String>,
    /// Exit status of the original when it refuses.
    pub refusal_status: u8,
    /// Rounds over which the original's work is spread.
    pub rounds: u64,
    /// Time that it may take, s.
    pub budget_s: u64,
    /// What is measured.
    pub variants: Vec<ProgramVariant>,
    /// The original's form of answer, part by part.
    pub answers: Vec<Answer>,
    /// Why our figure and the original's differ: templates.
    pub differences: Vec<String>,
    /// What the original itself printed elsewhere.
    pub known: Vec<Known>,
}

/// An argument of the original.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// Name in expressions and templates.
    pub name: String,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// Value when it is not given.
    pub default: u64,
}

/// One measurement of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramVariant {
    /// Name in templates.
    pub name: String,
    /// Mechanism; it need not be known here.
    pub mechanism: MechanismId,
    /// Experiment.
    pub experiment: Experiment,
    /// Ring size: an expression over the arguments.
    pub contexts: String,
    /// Placement.
    pub placement: Placement,
    /// Timing.
    pub timing: Timing,
    /// Parameters that differ from the mechanism's defaults.
    pub parameters: Parameters,
    /// Every probe that has it, not only the best.
    pub every_probe: bool,
    /// Units that the original carries out: an expression over the arguments.
    pub work: String,
    /// Measured batches of an invocation.
    pub batches: u64,
    /// Units in a batch; None: `work` spread over rounds and batches.
    pub batch_units: Option<u64>,
    /// Most units in a batch, however large `work` is.
    pub most_batch_units: u64,
    /// Distinguishes it from an otherwise equal one.
    pub label: String,
}

/// A part of the original's form of answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// What it is the answer to.
    pub heading: String,
    /// Variants without whose figures it cannot be given.
    pub needs: Vec<String>,
    /// Template.
    pub form: String,
}

/// A figure that the original printed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Machine and arguments.
    pub on: String,
    /// What it printed, and whether that is right.
    pub printed: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramFile {
    title: String,
    source: String,
    explains: String,
    #[serde(default)]
    argument: Vec<Argument>,
    usage: Option<String>,
    #[serde(default = "exit_failure")]
    refusal_status: u8,
    #[serde(default = "ten")]
    rounds: u64,
    #[serde(default = "sixty")]
    budget_s: u64,
    variant: Vec<VariantEntry>,
    answer: Vec<Answer>,
    #[serde(default)]
    difference: Vec<DifferenceEntry>,
    #[serde(default)]
    known: Vec<Known>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DifferenceEntry {
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VariantEntry {
    name: String,
    mechanism: String,
    #[serde(default = "switch")]
    experiment: String,
    #[serde(default = "two")]
    contexts: String,
    placement: String,
    #[serde(default = "batch")]
    timing: String,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    #[serde(default)]
    every_probe: bool,
    work: String,
    #[serde(default = "thirty")]
    batches: u64,
    batch_units: Option<u64>,
    #[serde(default = "unlimited")]
    most_batch_units: u64,
    #[serde(default)]
    label: String,
}

fn exit_failure() -> u8 {
    1
}
fn ten() -> u64 {
    10
}
fn thirty() -> u64 {
    30
}
fn sixty() -> u64 {
    60
}
fn unlimited() -> u64 {
    u64::MAX
}
fn switch() -> String {
    "switch".into()
}
fn two() -> String {
    "2".into()
}
fn batch() -> String {
    "batch".into()
}

/// Reads the folder `classic`; programs come in the order of their names.
///
/// # Errors
/// The first file that is missing or not of the right form.
pub fn load_programs(folder: &Path) -> Result<Vec<Program>, CatalogueError> {
    let mut programs = Vec::new();
    for path in entries(folder)? {
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            programs.push(convert(name, read(&path)?).map_err(|what| CatalogueError::invalid(&path, what))?);
        }
    }
    Ok(programs)
}

fn convert(name: String, file: ProgramFile) -> Result<Program, String> {
    let mut variants = Vec::new();
    for entry in file.variant {
        let fault = |what: String| format!("variant {}: {what}", entry.name);
        variants.push(variant(&entry).map_err(fault)?);
    }
    for answer in &file.answer {
        if let Some(unknown) = answer.needs.iter().find(|need| !variants.iter().any(|v| v.name == **need)) {
            return Err(format!("answer `{}` needs variant {unknown}, which there is not", answer.heading));
        }
    }
    if let Some(odd) = file.argument.iter().find(|a| !(a.min..=a.max).contains(&a.default)) {
        return Err(format!("argument {}: its default {} is out of its range", odd.name, odd.default));
    }
    Ok(Program {
        name,
        title: file.title,
        source: file.source,
        explains: file.explains,
        arguments: file.argument,
        usage: file.usage,
        refusal_status: file.refusal_status,
        rounds: file.rounds.max(1),
        budget_s: file.budget_s.max(1),
        variants,
        answers: file.answer,
        differences: file.difference.into_iter().map(|entry| entry.text).collect(),
        known: file.known,
    })
}

fn variant(entry: &VariantEntry) -> Result<ProgramVariant, String> {
    let said = |error: IdError| error.0;
    Ok(ProgramVariant {
        name: entry.name.clone(),
        mechanism: entry.mechanism.parse().map_err(said)?,
        experiment: entry.experiment.parse().map_err(said)?,
        contexts: entry.contexts.clone(),
        placement: entry.placement.parse().map_err(said)?,
        timing: entry.timing.parse().map_err(said)?,
        parameters: entry.parameters.clone(),
        every_probe: entry.every_probe,
        work: entry.work.clone(),
        batches: entry.batches.max(1),
        batch_units: entry.batch_units,
        most_batch_units: entry.most_batch_units.max(1),
        label: entry.label.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
    }

    #[test]
    fn programs_that_are_kept_can_be_read() {
        let programs = load_programs(&folder("classic")).unwrap();
        assert!(programs.len() >= 9);
        let catalogue = crate::load(&folder("mechanisms"), None, &|_| Ok(())).unwrap();
        for program in &programs {
            assert!(!program.explains.is_empty() && !program.differences.is_empty(), "{}", program.name);
            for variant in &program.variants {
                // A mechanism may belong to a probe that is not part of this source tree; what is known is used rightly.
                let Some(mechanism) = catalogue.find(&variant.mechanism) else { continue };
                assert!(mechanism.experiments.contains(&variant.experiment), "{}: {}", program.name, variant.name);
                assert!(mechanism.placements.contains(&variant.placement), "{}: {}", program.name, variant.name);
                for (name, value) in &variant.parameters {
                    let parameter = mechanism.takes(name, variant.experiment);
                    assert!(parameter.is_some_and(|p| p.accepts(value).is_ok()), "{}: {name}={value}", program.name);
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let head = "title = \"t\"\nsource = \"s\"\nexplains = \"e\"\n";
        let variant = "[[variant]]\nname = \"a\"\nmechanism = \"thread/x\"\nplacement = \"free\"\nwork = \"1\"\n";
        for (text, words) in [
            (format!("{head}{variant}[[answer]]\nheading = \"h\"\nneeds = [\"b\"]\nform = \"\"\n"), "needs variant b"),
            (format!("{head}{}answer = []\n", variant.replace("free", "nowhere")), "answer"),
            (
                format!("{head}answer = []\n[[argument]]\nname = \"n\"\nmin = 2\nmax = 3\ndefault = 9\n{variant}"),
                "out of its range",
            ),
        ] {
            std::fs::write(folder.path().join("odd.toml"), text).unwrap();
            let error = load_programs(folder.path()).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("odd.toml"), "{error}");
        }
    }
}
