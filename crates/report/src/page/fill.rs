//! Pages whose figures come from stored runs: text around figures, never figures in the text.

use super::cell::TemplateRow;
use super::{PageError, environment};
use minijinja::value::{Serde, Value};
use minijinja::{Error, ErrorKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use switchcost_analysis::number::percent;
use switchcost_analysis::{Analysis, Outcome, Row, Rules, within};
use switchcost_catalogue::{Catalogue, published};
use switchcost_model::Run;

/// Smallest difference that matters, as in `compare`.
const THRESHOLD: f64 = 0.03;

/// A run as templates see it.
#[derive(Serialize)]
struct RunCells {
    id: String,
    command: String,
    machine: String,
    kernel: String,
    date: String,
    invocations: usize,
    /// Label → row.
    rows: BTreeMap<String, TemplateRow>,
    /// Mechanism → its rows, the A/A twin left out.
    of: BTreeMap<String, Vec<TemplateRow>>,
}

/// B against A, two rows of one run.
#[derive(Serialize)]
struct Versus {
    /// Cost of B ÷ cost of A.
    ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
    /// slower, faster, same or cannot tell.
    verdict: &'static str,
    /// The verdict in words, with what it rests on.
    words: String,
    floor: f64,
    detectable: Option<f64>,
}

/// Fills in a template with `runs` and `texts`, each by name. The template sees `run.NAME.rows["LABEL"]`, `run.NAME.of["MECHANISM"]`, `text.NAME`,
/// `compare(NAME, A, B)` (a verdict) and `published(NAME)`.
///
/// # Errors
/// The template is wrong, or names a row that its run does not hold.
pub fn fill(
    name: &str,
    template: &str,
    mut runs: BTreeMap<String, Run>,
    texts: BTreeMap<String, String>,
    catalogue: &Catalogue,
) -> Result<String, PageError> {
    runs.values_mut().for_each(Run::make_harmless);
    let cells: BTreeMap<&String, RunCells> = runs.iter().map(|(name, run)| (name, run_cells(run, catalogue))).collect();
    let context = BTreeMap::from([("run", Value::from(Serde(&cells))), ("text", Value::from(Serde(&texts)))]);
    let mut environment = environment();
    let (runs, catalogue) = (Arc::new(runs), catalogue.clone());
    environment.add_function("compare", move |run: &str, a: &str, b: &str| versus(&runs, &catalogue, run, a, b));
    environment.add_function("published", quoted);
    environment.render_str(template, context).map_err(|error| PageError::new(name, &error))
}

fn run_cells(run: &Run, catalogue: &Catalogue) -> RunCells {
    let fact = |name: &str| run.machine.stable.get(name).map_or("unknown", String::as_str).to_owned();
    let started = jiff::Timestamp::from_nanosecond(i128::from(run.started_unix_ns)).unwrap_or_default();
    let analysis = Analysis::new(run, catalogue);
    let mut of: BTreeMap<String, Vec<TemplateRow>> = BTreeMap::new();
    for row in analysis.originals() {
        of.entry(row.variant.mechanism.to_string()).or_default().push(TemplateRow::new(row, 0));
    }
    RunCells {
        id: run.id.clone(),
        command: command(run),
        machine: format!("{}, {} CPUs, {}", fact("cpu.model_name"), fact("cpu.logical"), fact("hypervisor")),
        kernel: fact("kernel.release"),
        date: started.strftime("%Y-%m-%d").to_string(),
        invocations: run.invocations.len(),
        rows: analysis.ladder().map(|row| (row.label.clone(), TemplateRow::new(row, 0))).collect(),
        of,
    }
}

/// As somebody else would type it: where the run was kept is left out.
fn command(run: &Run) -> String {
    let mut words = vec!["switchcost".to_owned()];
    let mut typed = run.command.iter().skip(1);
    while let Some(word) = typed.next() {
        match word.as_str() {
            "--store" => drop(typed.next()),
            quoted if quoted.contains(['*', ' ']) => words.push(format!("'{quoted}'")),
            plain => words.push(plain.to_owned()),
        }
    }
    words.join(" ")
}

fn wrong(reason: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason)
}

fn versus(runs: &BTreeMap<String, Run>, catalogue: &Catalogue, run: &str, a: &str, b: &str) -> Result<Value, Error> {
    let run = runs.get(run).ok_or_else(|| wrong(format!("there is no run {run}")))?;
    let analysis = Analysis::new(run, catalogue);
    let row = |label: &str| -> Result<&Row<'_>, Error> {
        let row = analysis.rows.iter().find(|row| row.label == label);
        row.ok_or_else(|| wrong(format!("run {} has no row {label}", run.id)))
    };
    let rules = Rules { threshold: THRESHOLD, comparisons: 1 };
    let comparison = within(row(a)?, row(b)?, &analysis.noise, &rules).map_err(wrong)?;
    let (verdict, words) = match comparison.outcome {
        Outcome::Slower => ("slower", "slower".to_owned()),
        Outcome::Faster => ("faster", "faster".to_owned()),
        Outcome::Same(bound) => ("same", format!("the same within {}", percent(bound))),
        Outcome::CannotTell => ("cannot tell", format!("cannot tell: {}", comparison.reason)),
    };
    Ok(Value::from(Serde(Versus {
        ratio: comparison.ratio,
        low: comparison.interval.map(|interval| interval.0),
        high: comparison.interval.map(|interval| interval.1),
        verdict,
        words,
        floor: comparison.floor,
        detectable: comparison.detectable,
    })))
}

/// What others have measured.
#[derive(Serialize)]
struct Quoted {
    what: String,
    low: f64,
    /// With its unit, as a range if it is one.
    figure: String,
    machine: String,
    source: String,
}

fn quoted(name: &str) -> Result<Value, Error> {
    let values = published();
    let value = values
        .iter()
        .find(|value| value.name == name)
        .ok_or_else(|| wrong(format!("nothing is published as {name}")))?;
    let range = value.high.map_or(format!("{}", value.low), |high| format!("{} – {high}", value.low));
    Ok(Value::from(Serde(Quoted {
        what: value.what.clone(),
        low: value.low,
        figure: format!("{range} {}", value.unit),
        machine: value.machine.clone(),
        source: value.source.clone(),
    })))
}
