//! A run of a node, reduced to what is held against others.

use crate::label;
use crate::rulers::{Undisturbed, speeds, undisturbed};
use crate::series::series;
use crate::summary::{FEWEST_INVOCATIONS, counted, verdict_of};
use std::collections::BTreeMap;
use std::sync::Arc;
use switchcost_catalogue::grammar::Pattern;
use switchcost_catalogue::{Catalogue, FleetPlan};
use switchcost_model::{Experiment, Invocation, Passage, Run, Timing, Variant, Verdict};
use switchcost_stats::{OF_A_MEDIAN, SIGMAS, mad, mean, median, quantile, sorted};

/// One run of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeRun {
    /// Id of the run.
    pub run: String,
    /// Its start, ns since 1970 UTC.
    pub started_unix_ns: i64,
    /// Version of the method.
    pub method_version: u32,
    /// Version of switchcost.
    pub tool_version: String,
    /// What the machine calls itself, if the run tells.
    pub host: Option<String>,
    /// Stable facts of the machine; equal ones are kept once.
    pub facts: Arc<BTreeMap<String, String>>,
    /// Rows by their labels.
    pub rows: Vec<NodeFigures>,
    /// ln of B ÷ A of the row that was measured twice.
    pub twin: Option<f64>,
    /// Kind of disturbance → starts.
    pub disturbances: BTreeMap<String, usize>,
    /// All starts.
    pub starts: usize,
    /// Rows without figures that can be believed, with the reason.
    pub unusable: Vec<(String, String)>,
}

/// Figures of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeFigures {
    /// Name of the row, its probe included.
    pub label: Arc<str>,
    /// What it goes through.
    pub through: Passage,
    /// ln of its cost, ns.
    pub level: f64,
    /// The same of its faster starts: their quartile.
    pub low: f64,
    /// The same of its slower starts.
    pub high: f64,
    /// Standard error of that.
    pub within: f64,
    /// ln of the time that all batches took ÷ that of as many typical ones: what it was stopped for.
    pub stalled: f64,
}

impl NodeFigures {
    /// From medians of undisturbed starts and means of all starts, ns. `None`: too few of them.
    #[must_use]
    pub fn new(label: Arc<str>, through: Passage, medians: &[f64], means: &[f64]) -> Option<Self> {
        let positive = medians.iter().chain(means).all(|value| value.is_finite() && *value > 0.0);
        if medians.len() < FEWEST_INVOCATIONS || !positive {
            return None;
        }
        let logarithms: Vec<f64> = medians.iter().map(|value| value.ln()).collect();
        let level = median(&logarithms)?;
        let within = OF_A_MEDIAN * SIGMAS * mad(&logarithms)? / (logarithms.len() as f64).sqrt();
        let sorted = sorted(&logarithms);
        let (low, high) = (quantile(&sorted, 0.25)?, quantile(&sorted, 0.75)?);
        Some(Self { label, through, level, low, high, within, stalled: (mean(means)?.ln() - level).max(0.0) })
    }
}

/// The starts of a row that its figures are made of.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeStarts<'r> {
    /// Name of the row, its probe included.
    pub label: String,
    /// Its variant.
    pub variant: &'r Variant,
    /// Median of each undisturbed start, ns.
    pub medians: Vec<f64>,
    /// Mean of each start, disturbed or not, ns.
    pub means: Vec<f64>,
}

/// The starts of each row of a run, and the rows that cannot be used with the reason.
#[must_use]
pub fn node_starts<'r>(run: &'r Run, catalogue: &Catalogue) -> (Vec<NodeStarts<'r>>, Vec<(String, String)>) {
    let speeds = speeds(run);
    let all = run.starts();
    let (mut rows, mut unusable) = (Vec::new(), Vec::new());
    for (index, variant) in run.variants.iter().enumerate() {
        if variant.timing != Timing::Batch || variant.experiment == Experiment::Footprint {
            continue;
        }
        let label = label(variant, catalogue, true);
        let (verdict, reason) = verdict_of(run, index, &all[index]);
        if verdict != Verdict::Verified {
            unusable.push((label, format!("{verdict}: {reason}")));
            continue;
        }
        let (quiet, _) = counted(&all[index]);
        let undisturbed = undisturbed(&quiet, speeds.get(&variant.probe)).filter(Undisturbed::enough);
        let medians = match &undisturbed {
            Some(undisturbed) => undisturbed.starts.iter().map(|(_, median)| *median).collect(),
            None => quiet.iter().filter_map(|start| median(series(start).settled())).collect(),
        };
        let means = all[index].iter().filter_map(|start| mean(&series(start).values)).collect();
        rows.push(NodeStarts { label, variant, medians, means });
    }
    (rows, unusable)
}

/// Reduces runs, and keeps what many of them have in common once.
pub struct Reducer<'c> {
    catalogue: &'c Catalogue,
    passages: Vec<(Pattern<'c>, Passage)>,
    labels: BTreeMap<String, Arc<str>>,
    facts: BTreeMap<u64, Vec<Arc<BTreeMap<String, String>>>>,
}

impl<'c> Reducer<'c> {
    /// By these pages and this plan. Rows of mechanisms that no page describes go through something unknown.
    #[must_use]
    pub fn new(catalogue: &'c Catalogue, plan: &'c FleetPlan) -> Self {
        let passages = plan.rows.iter().filter_map(|row| Some((Pattern::parse(&row.pattern).ok()?, row.through)));
        Self { catalogue, passages: passages.collect(), labels: BTreeMap::new(), facts: BTreeMap::new() }
    }

    /// Reduces a run that has been judged by the rules of this version.
    pub fn reduce(&mut self, run: Run) -> NodeRun {
        let (all, mut unusable) = node_starts(&run, self.catalogue);
        let mut rows = Vec::<NodeFigures>::new();
        let mut twin = None;
        for starts in &all {
            let through = self.passages.iter().find(|(pattern, _)| pattern.fits(starts.variant, &starts.label));
            let through = through.map_or(Passage::Other, |(_, through)| *through);
            let label = self.shared(&starts.label);
            match NodeFigures::new(label, through, &starts.medians, &starts.means) {
                Some(figures) if starts.variant.is_twin() => {
                    let plain = Variant { label: String::new(), ..starts.variant.clone() };
                    let first = all.iter().find(|other| *other.variant == plain);
                    let first = first.and_then(|first| median(&first.medians)).filter(|median| *median > 0.0);
                    twin = twin.or(first.map(|first| figures.level - first.ln()));
                }
                Some(figures) if rows.iter().all(|row| row.label != figures.label) => rows.push(figures),
                Some(_) => {}
                None if starts.variant.is_twin() => {}
                None => unusable.push((starts.label.clone(), format!("fewer than {FEWEST_INVOCATIONS} usable starts"))),
            }
        }
        NodeRun {
            started_unix_ns: run.started_unix_ns,
            method_version: run.method_version,
            host: run.machine.personal.get("host_name").filter(|name| !name.starts_with("unknown")).cloned(),
            rows,
            twin,
            disturbances: disturbances(&run.invocations),
            starts: run.invocations.len(),
            unusable,
            facts: self.shared_facts(run.machine.stable),
            tool_version: run.tool_version,
            run: run.id,
        }
    }

    fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(label) = self.labels.get(name) {
            return Arc::clone(label);
        }
        let label: Arc<str> = name.into();
        self.labels.insert(name.to_owned(), Arc::clone(&label));
        label
    }

    fn shared_facts(&mut self, facts: BTreeMap<String, String>) -> Arc<BTreeMap<String, String>> {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        facts.hash(&mut hasher);
        let known = self.facts.entry(hasher.finish()).or_default();
        if let Some(same) = known.iter().find(|one| ***one == facts) {
            return Arc::clone(same);
        }
        known.push(Arc::new(facts));
        Arc::clone(&known[known.len() - 1])
    }
}

fn disturbances(starts: &[Invocation]) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for kind in starts.iter().flat_map(|start| &start.disturbances).map(|disturbance| &disturbance.kind) {
        *all.entry(kind.clone()).or_default() += 1;
    }
    all
}
