//! Pages whose figures come from stored runs: text around figures, never figures in the text.
//!
//! Words that state a result are chosen by a [`Finding`]: a figure with its interval, or the reason why there is none. A row or a run that is not
//! there is such a reason, so that a page tells what it lacks.

use super::finding::{self, Finding};
use super::template_row::TemplateRow;
use super::{PageError, environment};
use minijinja::value::{Kwargs, Serde, Value};
use minijinja::{Error, ErrorKind, State};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use switchcost_analysis::number::percent;
use switchcost_analysis::{Analysis, Of, Outcome, Row, Rules, joint, usable, within};
use switchcost_catalogue::grammar::command_line;
use switchcost_catalogue::{Catalogue, published};
use switchcost_model::{Run, Utc};

use crate::compare::published_figure;
use crate::formats::table::slowed_by;

/// Smallest difference that matters, as in `compare`.
const THRESHOLD: f64 = 0.03;

/// "The same within" more than this does not answer anything: the noise floor of a bad run may be anything.
const LOOSEST: f64 = 2.0 * THRESHOLD;

/// What a page is filled from, each piece by its name.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// Runs.
    pub runs: BTreeMap<String, Run>,
    /// Output of programs, as it stands.
    pub texts: BTreeMap<String, String>,
    /// Output of programs that is JSON.
    pub documents: BTreeMap<String, String>,
}

/// Where and when a run was measured.
#[derive(Serialize, Default)]
struct About {
    found: bool,
    command: String,
    machine: String,
    kernel: String,
    date: String,
    /// How much of it the machine was slowed, where that moved a figure; null otherwise.
    slowed: Option<String>,
}

/// B against A, two rows of one run.
#[derive(Serialize, Default)]
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
    /// There is a ratio.
    known: bool,
}

/// What the functions of a template see.
struct Pages {
    kept: Kept,
    catalogue: Catalogue,
}

/// Fills in a template. It sees
///
/// | function | gives |
/// |---|---|
/// | `row(RUN, LABEL)`, `rows_of(RUN, MECHANISM)` | rows; one that is not there has its reason |
/// | `about(RUN)` | command, machine, kernel, date, and how much it was slowed |
/// | `each_round(RUN, FORMULA, of = "median" or "mean", NAME = LABEL, …)` | a formula over the costs of rows, computed in every round: a finding |
/// | `compare(RUN, A, B)` | the verdict of `compare` on B against A |
/// | `published(NAME)` | a figure of others |
/// | `text(NAME)`, `document(NAME)` | output of a program; none if it is not kept |
///
/// # Errors
/// The template is wrong.
pub fn fill(name: &str, template: &str, mut kept: Kept, catalogue: &Catalogue) -> Result<String, PageError> {
    kept.runs.values_mut().for_each(Run::make_harmless);
    let pages = Arc::new(Pages { kept, catalogue: catalogue.clone() });
    let mut environment = environment();
    finding::add(&mut environment);
    let here = Arc::clone(&pages);
    environment.add_function("row", move |run: &str, label: &str| Value::from(Serde(here.cell(run, label))));
    let here = Arc::clone(&pages);
    environment.add_function("rows_of", move |run: &str, id: &str| Value::from(Serde(here.rows_of(run, id))));
    let here = Arc::clone(&pages);
    environment.add_function("about", move |run: &str| Value::from(Serde(here.about(run))));
    let here = Arc::clone(&pages);
    environment.add_function("each_round", move |state: &State<'_, '_>, run: &str, formula: &str, rows: Kwargs| {
        here.each_round(state, run, formula, &rows)
    });
    let here = Arc::clone(&pages);
    environment.add_function("compare", move |run: &str, a: &str, b: &str| Value::from(Serde(here.versus(run, a, b))));
    environment.add_function("published", quoted);
    let here = Arc::clone(&pages);
    environment.add_function("text", move |name: &str| Value::from(Serde(here.kept.texts.get(name))));
    let here = Arc::clone(&pages);
    environment.add_function("document", move |name: &str| here.document(name));
    environment.render_str(template, ()).map_err(|error| PageError::new(name, &error))
}

/// A question that the formula itself has no part in.
enum NoFinding {
    /// The runs do not hold it.
    Unknown(String),
    /// The template is wrong.
    Wrong(Error),
}

impl From<String> for NoFinding {
    fn from(reason: String) -> Self {
        Self::Unknown(reason)
    }
}

impl From<Error> for NoFinding {
    fn from(error: Error) -> Self {
        Self::Wrong(error)
    }
}

impl Pages {
    fn analysed(&self, run: &str) -> Result<Analysis<'_>, String> {
        let run = self.kept.runs.get(run).ok_or_else(|| format!("the run `{run}` is not kept here"))?;
        Ok(Analysis::new(run, &self.catalogue))
    }

    fn cell(&self, run: &str, label: &str) -> TemplateRow {
        let found = self.analysed(run).and_then(|analysis| Ok(TemplateRow::new(row(&analysis, run, label)?, 0)));
        found.unwrap_or_else(|reason| TemplateRow::absent(&reason))
    }

    /// The rows of a mechanism, A/A twins left out.
    fn rows_of(&self, run: &str, mechanism: &str) -> Vec<TemplateRow> {
        let Ok(analysis) = self.analysed(run) else { return Vec::new() };
        let rows = analysis.originals().filter(|row| row.variant.mechanism.as_str() == mechanism);
        rows.map(|row| TemplateRow::new(row, 0)).collect()
    }

    fn about(&self, name: &str) -> About {
        let Some(run) = self.kept.runs.get(name) else {
            return About { command: format!("scripts/answers {name}"), ..About::default() };
        };
        let fact = |name: &str| run.machine.stable.get(name).map_or("unknown", String::as_str).to_owned();
        About {
            found: true,
            command: command(run),
            machine: format!("{}, {} CPUs, {}", fact("cpu.model_name"), fact("cpu.logical"), fact("hypervisor")),
            kernel: fact("kernel.release"),
            date: Utc::new(run.started_unix_ns).date(),
            slowed: slowed_by(&Analysis::new(run, &self.catalogue)),
        }
    }

    /// Named arguments are rows by their names in the formula, but for `of`.
    fn each_round(&self, state: &State<'_, '_>, run: &str, formula: &str, rows: &Kwargs) -> Result<Value, Error> {
        let of = match rows.get::<Option<&str>>("of")? {
            None | Some("median") => Of::Medians,
            Some("mean") => Of::Means,
            Some(other) => return Err(wrong(format!("of a start there is a median and a mean, no {other}"))),
        };
        let mut labels: Vec<(&str, &str)> = Vec::new();
        for name in rows.args().filter(|name| *name != "of") {
            labels.push((name, rows.get(name)?));
        }
        rows.assert_all_used()?;
        let compiled = state.env().compile_expression(formula)?;
        let finding = || -> Result<Finding, NoFinding> {
            let analysis = self.analysed(run)?;
            let found = labels.iter().map(|(_, label)| row(&analysis, run, label)).collect::<Result<Vec<_>, _>>()?;
            let joint = joint(&found, of, |costs| -> Result<f64, NoFinding> {
                let context: BTreeMap<&str, f64> =
                    labels.iter().zip(costs).map(|((name, _), cost)| (*name, *cost)).collect();
                let value = compiled.eval(Serde(&context)).map_err(|error| match error.kind() {
                    // A division by nothing; names that mean nothing are of another kind.
                    ErrorKind::InvalidOperation => NoFinding::Unknown("it has no value in one of the rounds".into()),
                    _ => NoFinding::Wrong(error),
                })?;
                Ok(f64::try_from(value)?)
            })?;
            Ok(Finding::new(&joint))
        };
        match finding() {
            Ok(finding) => Ok(Value::from(Serde(finding))),
            Err(NoFinding::Unknown(reason)) => Ok(Value::from(Serde(Finding::unknown(&reason)))),
            Err(NoFinding::Wrong(error)) => Err(error),
        }
    }

    fn document(&self, name: &str) -> Result<Value, Error> {
        let Some(text) = self.kept.documents.get(name) else { return Ok(Value::from(())) };
        let read: serde_json::Value =
            serde_json::from_str(text).map_err(|error| wrong(format!("{name} is not JSON: {error}")))?;
        Ok(Value::from(Serde(read)))
    }

    fn versus(&self, run: &str, a: &str, b: &str) -> Versus {
        self.judged(run, a, b).unwrap_or_else(|reason| Versus {
            verdict: "cannot tell",
            words: format!("cannot tell: {reason}"),
            ..Versus::default()
        })
    }

    fn judged(&self, name: &str, a: &str, b: &str) -> Result<Versus, String> {
        let analysis = self.analysed(name)?;
        let (a, b) = (row(&analysis, name, a)?, row(&analysis, name, b)?);
        for row in [a, b] {
            usable(row).map_err(|reason| format!("{}: {reason}", row.label))?;
        }
        let comparison = within(a, b, &analysis.noise, &Rules { threshold: THRESHOLD, comparisons: 1 })?;
        let (verdict, words) = match (&analysis.noise.unstable, comparison.outcome) {
            (Some(reason), _) => ("cannot tell", format!("cannot tell: the run is unstable, {reason}")),
            (None, Outcome::Slower) => ("slower", "slower".to_owned()),
            (None, Outcome::Faster) => ("faster", "faster".to_owned()),
            (None, Outcome::Same(bound)) if bound > LOOSEST => {
                ("cannot tell", format!("cannot tell: equal rows of this run differ by {}", percent(bound)))
            }
            (None, Outcome::Same(bound)) => ("same", format!("the same within {}", percent(bound))),
            (None, Outcome::CannotTell) => ("cannot tell", format!("cannot tell: {}", comparison.reason)),
        };
        Ok(Versus {
            ratio: comparison.ratio,
            low: comparison.interval.map(|interval| interval.0),
            high: comparison.interval.map(|interval| interval.1),
            verdict,
            words,
            floor: comparison.floor,
            detectable: comparison.detectable,
            known: true,
        })
    }
}

fn row<'a, 'r>(analysis: &'a Analysis<'r>, run: &str, label: &str) -> Result<&'a Row<'r>, String> {
    let found = analysis.ladder().find(|row| row.label == label);
    found.ok_or_else(|| format!("the run `{run}` has no row `{label}`"))
}

/// As somebody else would type it: where the run was kept is left out.
fn command(run: &Run) -> String {
    let (words, _) = run.command_and_store();
    command_line(["switchcost"].into_iter().chain(words.into_iter().skip(1)))
}

fn wrong(reason: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason)
}

/// What others have measured.
#[derive(Serialize)]
struct Quoted {
    what: String,
    low: f64,
    high: Option<f64>,
    /// With its unit, as a range if it is one.
    figure: String,
    /// One way, with what was taken off added again; where the unit is a time per switch or round trip.
    one_way: f64,
    machine: String,
    source: String,
    caveat: Option<String>,
}

fn quoted(name: &str) -> Result<Value, Error> {
    let values = published();
    let value = values
        .iter()
        .find(|value| value.name == name)
        .ok_or_else(|| wrong(format!("nothing is published as {name}")))?;
    let ways = if value.unit.ends_with("round trip") { 2.0 } else { 1.0 };
    Ok(Value::from(Serde(Quoted {
        what: value.what.clone(),
        low: value.low,
        high: value.high,
        figure: format!("{} {}", published_figure(value), value.unit),
        one_way: (value.low + value.taken_off.unwrap_or_default()) / ways,
        machine: value.machine.clone(),
        source: value.source.clone(),
        caveat: value.caveat.clone(),
    })))
}
