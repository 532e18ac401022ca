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
    /// What the original prints of each row.
    pub columns: Vec<Column>,
    /// What is measured.
    pub rows: Vec<ProgramRow>,
    /// Why our figure and the original's differ.
    pub differences: Vec<String>,
    /// What the original itself printed elsewhere.
    pub known: Vec<Known>,
}

/// Values of a program's arguments, by their names.
pub type Arguments = BTreeMap<String, u64>;

impl Program {
    /// Checks what was typed as the original does.
    ///
    /// # Errors
    /// What the original prints when it refuses.
    pub fn arguments_of(&self, typed: &[String]) -> Result<Arguments, String> {
        let Some(usage) = &self.usage else { return Ok(Arguments::new()) };
        if typed.len() > self.arguments.len() {
            return Err(usage.clone());
        }
        let value = |(index, argument): (usize, &Argument)| match typed.get(index).map(|text| text.parse()) {
            None => Ok((argument.name.clone(), argument.default)),
            Some(Ok(value)) if (argument.min..=argument.max).contains(&value) => Ok((argument.name.clone(), value)),
            Some(_) => Err(usage.clone()),
        };
        self.arguments.iter().enumerate().map(value).collect()
    }
}

/// A product of numbers and arguments, such as `fibers * iterations`.
#[derive(Debug, Clone, PartialEq)]
pub struct Product(Vec<String>);

impl Product {
    fn new(text: &str, arguments: &[Argument]) -> Result<Self, String> {
        let factors: Vec<String> = text.split('*').map(|factor| factor.trim().to_owned()).collect();
        let known = |factor: &str| factor.parse::<u64>().is_ok() || arguments.iter().any(|a| a.name == factor);
        match factors.iter().find(|factor| !known(factor)) {
            Some(unknown) => Err(format!("`{unknown}` in `{text}` is neither a number nor an argument")),
            None => Ok(Self(factors)),
        }
    }

    /// Its value; the largest number there is, if it is larger.
    #[must_use]
    pub fn of(&self, arguments: &Arguments) -> u64 {
        let value = |factor: &String| arguments.get(factor).copied().or_else(|| factor.parse().ok()).unwrap_or(1);
        self.0.iter().map(value).fold(1, u64::saturating_mul)
    }
}

/// An argument of the original.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// Name in products.
    pub name: String,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// Value when it is not given.
    pub default: u64,
}

/// A row that a program measures.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramRow {
    /// Mechanism; it need not be known here.
    pub mechanism: MechanismId,
    /// Experiment.
    pub experiment: Experiment,
    /// Ring size.
    pub contexts: Product,
    /// Placement.
    pub placement: Placement,
    /// Timing.
    pub timing: Timing,
    /// Parameters that differ from the mechanism's defaults.
    pub parameters: Parameters,
    /// Every probe that has it, not only the best.
    pub every_probe: bool,
    /// Units that the original carries out.
    pub work: Product,
    /// Measured batches of an invocation.
    pub batches: u64,
    /// Units in a batch; None: `work` spread over rounds and batches.
    pub batch_units: Option<u64>,
    /// Most units in a batch, however large `work` is.
    pub most_batch_units: u64,
    /// Distinguishes it from an otherwise equal one.
    pub label: String,
}

/// One value that the original prints.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// What the original calls it, with its unit.
    pub heading: String,
    /// What it is of our row.
    pub value: Printed,
}

/// What programs print. All but the fastest rest on the row's figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Printed {
    /// ns per unit.
    UnitNs,
    /// ns of the original's work.
    WorkNs,
    /// The same in ms.
    WorkMs,
    /// Units per second.
    PerSecond,
    /// Fastest batch, µs per unit.
    FastestUnitUs,
    /// Fastest batch, µs as a whole.
    FastestBatchUs,
    /// With timing each: ticks of the counter between the two reads.
    Ticks,
    /// The ticks that two reads in a row take.
    PairTicks,
    /// Their difference.
    UnitTicks,
    /// Voluntary kernel switches of the original's work.
    Voluntary,
    /// Involuntary ones.
    Involuntary,
    /// The compiler, as the probe names it.
    Compiler,
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
    columns: Vec<Column>,
    differences: Vec<String>,
    row: Vec<RowEntry>,
    #[serde(default)]
    known: Vec<Known>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowEntry {
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
    if let Some(odd) = file.argument.iter().find(|a| !(a.min..=a.max).contains(&a.default)) {
        return Err(format!("argument {}: its default {} is out of its range", odd.name, odd.default));
    }
    let fault = |entry: &RowEntry, what: String| format!("row {} {}: {what}", entry.mechanism, entry.placement);
    let rows = file.row.iter().map(|entry| row(entry, &file.argument).map_err(|what| fault(entry, what)));
    Ok(Program {
        name,
        title: file.title,
        source: file.source,
        explains: file.explains,
        usage: file.usage,
        refusal_status: file.refusal_status,
        rounds: file.rounds.max(1),
        budget_s: file.budget_s.max(1),
        columns: file.columns,
        rows: rows.collect::<Result<_, _>>()?,
        arguments: file.argument,
        differences: file.differences,
        known: file.known,
    })
}

fn row(entry: &RowEntry, arguments: &[Argument]) -> Result<ProgramRow, String> {
    let said = |error: IdError| error.0;
    Ok(ProgramRow {
        mechanism: entry.mechanism.parse().map_err(said)?,
        experiment: entry.experiment.parse().map_err(said)?,
        contexts: Product::new(&entry.contexts, arguments)?,
        placement: entry.placement.parse().map_err(said)?,
        timing: entry.timing.parse().map_err(said)?,
        parameters: entry.parameters.clone(),
        every_probe: entry.every_probe,
        work: Product::new(&entry.work, arguments)?,
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
            for row in &program.rows {
                // A mechanism may belong to a probe that is not part of this source tree; what is known is used rightly.
                let Some(mechanism) = catalogue.find(&row.mechanism) else { continue };
                assert!(mechanism.experiments.contains(&row.experiment), "{}: {}", program.name, row.mechanism);
                assert!(mechanism.placements.contains(&row.placement), "{}: {}", program.name, row.mechanism);
                for (name, value) in &row.parameters {
                    let parameter = mechanism.takes(name, row.experiment);
                    assert!(parameter.is_some_and(|p| p.accepts(value).is_ok()), "{}: {name}={value}", program.name);
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let head = "title = \"t\"\nsource = \"s\"\nexplains = \"e\"\ndifferences = []\n";
        let columns = "columns = [{ heading = \"h\", value = \"unit_ns\" }]\n";
        let row = "[[row]]\nmechanism = \"thread/x\"\nplacement = \"free\"\nwork = \"1\"\n";
        let argument = "[[argument]]\nname = \"n\"\nmin = 2\nmax = 3\ndefault = 9\n";
        for (text, words) in [
            (format!("{head}{}{row}", columns.replace("unit_ns", "units")), "unknown variant `units`"),
            (format!("{head}{columns}{}", row.replace("free", "nowhere")), "row thread/x nowhere: "),
            (format!("{head}{columns}{}", row.replace("\"1\"", "\"2 * n\"")), "neither a number nor an argument"),
            (format!("{head}{columns}{argument}{row}"), "out of its range"),
            (format!("{head}{row}"), "columns"),
        ] {
            std::fs::write(folder.path().join("odd.toml"), text).unwrap();
            let error = load_programs(folder.path()).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("odd.toml"), "{error}");
        }
    }

    #[test]
    fn a_product_is_of_numbers_and_arguments() {
        let argument = |name: &str| Argument { name: name.into(), min: 1, max: u64::MAX, default: 1 };
        let product = |text| Product::new(text, &[argument("a"), argument("b")]);
        let values = |a, b| Arguments::from([("a".to_owned(), a), ("b".to_owned(), b)]);
        assert_eq!(product("a * 100*b").unwrap().of(&values(3, 2)), 600);
        assert_eq!(product("7").unwrap().of(&Arguments::new()), 7);
        assert_eq!(product("a * b").unwrap().of(&values(u64::MAX, 2)), u64::MAX);
        assert!(product("a + b").is_err() && product("").is_err());
    }
}
