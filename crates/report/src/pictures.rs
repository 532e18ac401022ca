//! Static pictures of runs, for documents: the page's views without a browser, as SVG whose texts are texts, and as PNG.
//!
//! Colours, marks and order are those of the page (`web/`); what a reader of the page finds by pointing stands here in a key.

mod compare;
mod curves;
mod distribution;
mod ladder;
mod pairs;
mod paper;
mod raster;
mod rows;
mod scale;

pub use raster::{Fonts, png};

use crate::curves::Shapes;
use crate::html::Derived;
use crate::rows::Line;
use switchcost_analysis::details;
use switchcost_catalogue::Catalogue;
use switchcost_model::{Experiment, Run};

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Name of its file without the ending.
    pub name: String,
    /// What is in it.
    pub svg: String,
}

/// Every view of these runs that has data, and each run against the one before it. Names of one run's pictures are those of the views; of several
/// runs each begins with the run's id.
///
/// # Errors
/// A clause about a picture that cannot be drawn.
pub fn pictures(runs: &[Run], catalogue: &Catalogue) -> Result<Vec<Picture>, String> {
    let derived: Vec<Derived<'_>> = runs.iter().map(|run| Derived::new(run, catalogue)).collect();
    let names = names(runs);
    let mut all = Vec::new();
    for (one, name) in derived.iter().zip(&names) {
        let prefix = if runs.len() > 1 { format!("{name}-") } else { String::new() };
        all.extend(of_run(one, &prefix, catalogue)?);
    }
    for (b, name) in names.iter().enumerate().skip(1) {
        let name = if derived.len() == 2 { "compare".to_owned() } else { format!("{name}-compare") };
        all.extend(compare::picture(name, b, runs, &derived)?);
    }
    Ok(all)
}

/// Ids of the runs, told apart where two files bring the same one.
fn names(runs: &[Run]) -> Vec<String> {
    let before = |i: usize| runs[..i].iter().filter(|other| other.id == runs[i].id).count();
    let name = |i: usize| match before(i) {
        0 => runs[i].id.clone(),
        nth => format!("{}-{}", runs[i].id, nth + 1),
    };
    (0..runs.len()).map(name).collect()
}

fn of_run(one: &Derived<'_>, prefix: &str, catalogue: &Catalogue) -> Result<Vec<Picture>, String> {
    let mut all = Vec::new();
    let details = details(one.run);
    for experiment in [Experiment::Switch, Experiment::Create, Experiment::Message, Experiment::Footprint] {
        let lines: Vec<&Line<'_>> = one
            .lines
            .iter()
            .filter(|line| line.row.variant.experiment == experiment && !line.row.variant.is_twin())
            .collect();
        if lines.iter().all(|line| line.row.summary.figures.is_none()) {
            continue;
        }
        let (ladder, tail) = match experiment {
            Experiment::Switch => ("ladder".to_owned(), String::new()),
            other => (other.to_string(), format!("-{other}")),
        };
        all.extend(ladder::picture(format!("{prefix}{ladder}"), one.run, experiment, &lines, catalogue)?);
        let name = format!("{prefix}distribution{tail}");
        all.extend(distribution::picture(name, one.run, experiment, &lines, &details, catalogue)?);
    }
    let shapes = Shapes::of(one.run, catalogue);
    all.extend(curves::pictures(prefix, one.run, &shapes, catalogue)?);
    all.extend(pairs::pictures(prefix, one.run, &shapes)?);
    Ok(all)
}

/// What is measured, as a title.
fn title(experiment: Experiment) -> &'static str {
    match experiment {
        Experiment::Switch => "Cost of a switch",
        Experiment::Create => "Cost of creating, entering once and destroying a context",
        Experiment::Message => "Cost of a message there and back",
        Experiment::Footprint => "Memory of a live, suspended context",
    }
}

/// Which run, when, on what.
fn about(run: &Run) -> String {
    let started = jiff::Timestamp::from_nanosecond(i128::from(run.started_unix_ns)).unwrap_or_default();
    let fact = |name: &str| run.machine.stable.get(name).map_or("", String::as_str);
    let kernel = fact("kernel.release").split('-').next().unwrap_or_default();
    let parts = [
        format!("run {}", run.id),
        started.strftime("%Y-%m-%d").to_string(),
        fact("cpu.model_name").to_owned(),
        if kernel.is_empty() { String::new() } else { format!("kernel {kernel}") },
        fact("hypervisor").to_owned(),
        format!("switchcost {}", run.tool_version),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}
