//! `classic/*.toml`: the programs of the write-ups, as data. The form is described in
//! `classic/README.md`.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use switchcost_catalogue::{CatalogueError, entries, read};
use switchcost_model::{Experiment, MechanismId, Parameters, Placement, Timing};

/// A program of a write-up.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Name on the command line: that of the original, and of its file.
    #[serde(skip)]
    pub name: String,
    /// One line.
    pub title: String,
    /// The write-up.
    pub source: String,
    /// What it does and what one unit of its answer is.
    pub explains: String,
    /// Its arguments, in order.
    #[serde(rename = "argument", default)]
    pub arguments: Vec<Argument>,
    /// What the original prints when it refuses its arguments; None: it never looks at them.
    pub usage: Option<String>,
    /// Exit status of the original when it refuses.
    #[serde(default = "one")]
    pub refusal_status: u8,
    /// Rounds over which the original's work is spread.
    #[serde(default = "ten")]
    pub rounds: u64,
    /// Time that it may take, s.
    #[serde(default = "sixty")]
    pub budget_s: u64,
    /// What the original prints of each row.
    pub columns: Vec<Column>,
    /// What is measured.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
    /// Why our figure and the original's differ.
    pub differences: Vec<String>,
    /// What the original itself printed elsewhere.
    #[serde(default)]
    pub known: Vec<Known>,
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
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Mechanism; it need not be known here.
    pub mechanism: MechanismId,
    /// Experiment.
    #[serde(default = "Experiment::usual")]
    pub experiment: Experiment,
    /// Ring size.
    #[serde(default = "two")]
    pub contexts: Product,
    /// Placement.
    pub placement: Placement,
    /// Timing.
    #[serde(default = "batch")]
    pub timing: Timing,
    /// Parameters that differ from the mechanism's defaults.
    #[serde(default)]
    pub parameters: Parameters,
    /// Every probe that has it, not only the best.
    #[serde(default)]
    pub every_probe: bool,
    /// Units that the original carries out.
    pub work: Product,
    /// Measured batches of an invocation.
    #[serde(default = "thirty")]
    pub batches: u64,
    /// Units in a batch; None: `work` spread over rounds and batches.
    pub batch_units: Option<u64>,
    /// Most units in a batch, however large `work` is.
    pub most_batch_units: Option<u64>,
    /// Distinguishes it from an otherwise equal one.
    #[serde(default)]
    pub label: String,
    /// The figure of the write-up that this row answers.
    pub article: Option<Article>,
}

/// A figure that the write-up itself gives for a row.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Article {
    /// Heading of the column that holds the same of ours.
    pub column: String,
    /// The figure as it stands there.
    pub says: String,
    /// Unit of both.
    pub unit: String,
    /// Machine and arguments.
    pub on: String,
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

fn one() -> u8 {
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
fn batch() -> Timing {
    Timing::Batch
}
fn two() -> Product {
    Product("2".into())
}

/// Values of a program's arguments, by their names.
pub type Arguments = BTreeMap<String, u64>;

/// A product of numbers and arguments, such as `fibers * iterations`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Product(String);

impl Product {
    fn factors(&self) -> impl Iterator<Item = &str> {
        self.0.split('*').map(str::trim)
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), String> {
        let known = |factor: &str| factor.parse::<u64>().is_ok() || arguments.iter().any(|a| a.name == factor);
        let unknown = self.factors().find(|factor| !known(factor));
        unknown
            .map_or(Ok(()), |unknown| Err(format!("`{unknown}` in `{}` is neither a number nor an argument", self.0)))
    }

    /// Its value; the largest number there is, if it is larger.
    pub fn of(&self, arguments: &Arguments) -> u64 {
        let value = |factor: &str| arguments.get(factor).copied().or_else(|| factor.parse().ok()).unwrap_or(1);
        self.factors().map(value).fold(1, u64::saturating_mul)
    }
}

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

    fn check(&self) -> Result<(), String> {
        if let Some(odd) = self.arguments.iter().find(|a| !(a.min..=a.max).contains(&a.default)) {
            return Err(format!("argument {}: its default {} is out of its range", odd.name, odd.default));
        }
        let has = |article: &Article| self.columns.iter().any(|column| column.heading == article.column);
        if let Some(odd) = self.rows.iter().filter_map(|row| row.article.as_ref()).find(|article| !has(article)) {
            return Err(format!("its article speaks of a column `{}`, which it has not", odd.column));
        }
        self.rows
            .iter()
            .flat_map(|row| [&row.contexts, &row.work])
            .try_for_each(|product| product.check(&self.arguments))
    }
}

/// Reads the folder `classic`; programs come in the order of their names.
///
/// # Errors
/// The first file that is missing or not of the right form.
pub fn load_programs(folder: &Path) -> Result<Vec<Program>, CatalogueError> {
    let files = entries(folder)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let program = |path: std::path::PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let program = Program { name, ..read(&path)? };
        program.check().map(|()| program).map_err(|what| CatalogueError::invalid(&path, what))
    };
    files.map(program).collect()
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
        let catalogue = switchcost_catalogue::load(&folder("mechanisms"), &[], &|_| Ok(())).unwrap();
        for program in &programs {
            assert!(!program.explains.is_empty() && !program.differences.is_empty(), "{}", program.name);
            for row in &program.rows {
                // A mechanism may belong to a probe that is not part of this source tree; what is
                // known is used rightly.
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
        let article = "article = { column = \"x\", says = \"1\", unit = \"ns\", on = \"m\" }\n";
        for (text, words) in [
            (format!("{head}{}{row}", columns.replace("unit_ns", "units")), "unknown variant `units`"),
            (format!("{head}{columns}{}", row.replace("free", "nowhere")), "`nowhere`"),
            (format!("{head}{columns}{}", row.replace("\"1\"", "\"2 * n\"")), "neither a number nor an argument"),
            (format!("{head}{columns}{argument}{row}"), "out of its range"),
            (format!("{head}{row}"), "columns"),
            (format!("{head}{columns}{row}{article}"), "a column `x`, which it has not"),
        ] {
            std::fs::write(folder.path().join("odd.toml"), text).unwrap();
            let error = load_programs(folder.path()).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("odd.toml"), "{error}");
        }
    }

    #[test]
    fn a_product_is_of_numbers_and_arguments() {
        let arguments = ["a", "b"].map(|name| Argument { name: name.into(), min: 1, max: u64::MAX, default: 1 });
        let of = |text: &str, a, b| {
            let product = Product(text.into());
            let values = Arguments::from([("a".to_owned(), a), ("b".to_owned(), b)]);
            product.check(&arguments).map(|()| product.of(&values))
        };
        assert_eq!((of("a * 100*b", 3, 2), of("7", 0, 0), of("a * b", u64::MAX, 2)), (Ok(600), Ok(7), Ok(u64::MAX)));
        assert!(of("a + b", 1, 1).is_err() && of("", 1, 1).is_err());
    }
}
