//! A run of a node as the figures of its starts: what it is reduced from, and small enough to be
//! kept.

use super::node::{Centre, NodeFigures, NodeRun, NodeStarts, Timed};
use crate::data::FleetPlan;
use crate::passage::Passage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use switchcost_analysis::{
    Constants, Undisturbed, clock_beside, counted, label, series, speeds, undisturbed, values, verdict_of,
};
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::Pattern;
use switchcost_model::{Invocation, Judgement, Run, Timing, Variant};
use switchcost_stats::{FEWEST, mean, median};

/// Patterns of rows, and what each goes through.
pub(super) type Passages<'c> = Vec<(Pattern<'c>, Passage)>;

/// Those of a plan.
pub(super) fn passages(plan: &FleetPlan) -> Passages<'_> {
    plan.rows.iter().filter_map(|row| Some((Pattern::parse(&row.pattern).ok()?, row.through))).collect()
}

/// A figure of each start, with the clock beside it.
fn timed(starts: &[&Invocation], figure: impl Fn(&Invocation) -> Option<f64>) -> Vec<Timed> {
    starts.iter().filter_map(|start| Some((start.round, figure(start)?, clock_beside(start)))).collect()
}

/// A run of a node as the figures of its starts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSample {
    /// Stable facts of the machine.
    pub facts: BTreeMap<String, String>,
    /// All starts.
    pub starts: usize,
    /// Kind of disturbance → starts.
    pub disturbances: BTreeMap<String, usize>,
    /// Rows whose claims were believed.
    pub rows: Vec<NodeStarts>,
    /// The other rows, with the reason.
    pub unusable: Vec<(String, String)>,
}

impl NodeSample {
    /// Of a run that has been judged by the rules of this version. Its facts are left to the run.
    pub(super) fn new(run: &Run, catalogue: &Catalogue, passages: &Passages<'_>) -> Self {
        let (speeds, all) = (speeds(run), run.starts());
        let mut sample = Self { starts: run.invocations.len(), ..Self::default() };
        for disturbance in run.invocations.iter().flat_map(|start| &start.disturbances) {
            *sample.disturbances.entry(disturbance.kind()).or_default() += 1;
        }
        for (index, variant) in run.variants.iter().enumerate() {
            if variant.timing != Timing::Batch || !variant.experiment.timed() {
                continue;
            }
            let row = label(variant, catalogue, true);
            let Judgement { verdict, reason } = verdict_of(&Constants::OURS, run, index, &all[index]);
            if let Some(reason) = reason {
                sample.unusable.push((row, format!("{verdict}: {reason}")));
                continue;
            }
            let (quiet, _) = counted(&all[index]);
            let undisturbed = undisturbed(&quiet, speeds.get(&variant.probe)).filter(Undisturbed::enough);
            let medians = match undisturbed {
                Some(undisturbed) => undisturbed.as_read,
                None => timed(&quiet, |start| median(series(start).settled())),
            };
            let through = passages.iter().find(|(pattern, _)| pattern.fits(variant, &row));
            let plain = || label(&Variant { label: String::new(), ..variant.clone() }, catalogue, true);
            sample.rows.push(NodeStarts {
                through: through.map_or(Passage::Other, |(_, through)| *through),
                twin_of: variant.is_twin().then(plain),
                medians,
                means: timed(&all[index], |start| mean(&values(&start.transcript))),
                row,
            });
        }
        sample
    }

    /// Of a run by a plan, its facts included.
    #[must_use]
    pub fn of(run: &Run, catalogue: &Catalogue, plan: &FleetPlan) -> Self {
        Self { facts: run.machine.stable.clone(), ..Self::new(run, catalogue, &passages(plan)) }
    }

    /// Reduced to what is held against other nodes; who it is and when it ran is not known here.
    #[must_use]
    pub fn figures(&self) -> NodeRun {
        let mut run = NodeRun {
            facts: Arc::new(self.facts.clone()),
            starts: self.starts,
            disturbances: self.disturbances.clone(),
            unusable: self.unusable.clone(),
            ..NodeRun::default()
        };
        let mut clocks = Vec::new();
        for starts in &self.rows {
            clocks.extend(starts.means.iter().filter_map(|(_, _, clock)| *clock));
            match (NodeFigures::new(starts), &starts.twin_of) {
                (Some(figures), Some(first)) => {
                    let first = self.rows.iter().find(|other| other.row == *first).and_then(NodeFigures::new);
                    run.twin = run.twin.or(first.map(|first| figures.typical().level - first.typical().level));
                }
                (Some(figures), None) if run.rows.iter().all(|row| row.label != figures.label) => {
                    run.rows.push(figures);
                }
                (Some(_), None) | (None, Some(_)) => {}
                (None, None) => run.unusable.push((starts.row.clone(), format!("fewer than {FEWEST} usable starts"))),
            }
        }
        run.clock = Centre::new(&clocks);
        run
    }
}
