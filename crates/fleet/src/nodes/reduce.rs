//! Run files of nodes, reduced one after another.

use super::node::NodeRun;
use super::sample::{NodeSample, Passages, passages};
use crate::data::FleetPlan;
use std::collections::BTreeMap;
use std::sync::Arc;
use switchcost_catalogue::Catalogue;
use switchcost_model::{Run, is_known};

/// Reduces runs, and keeps what many of them have in common once.
pub struct Reducer<'c> {
    catalogue: &'c Catalogue,
    passages: Passages<'c>,
    labels: BTreeMap<String, Arc<str>>,
    facts: BTreeMap<u64, Vec<Arc<BTreeMap<String, String>>>>,
}

impl<'c> Reducer<'c> {
    /// By these pages and this plan. Rows of mechanisms that no page describes go through something
    /// unknown.
    #[must_use]
    pub fn new(catalogue: &'c Catalogue, plan: &'c FleetPlan) -> Self {
        Self { catalogue, passages: passages(plan), labels: BTreeMap::new(), facts: BTreeMap::new() }
    }

    /// Reduces a run that has been judged by the rules of this version.
    pub fn reduce(&mut self, run: Run) -> NodeRun {
        let sample = NodeSample::new(&run, self.catalogue, &self.passages);
        let mut reduced = sample.figures();
        reduced.rows.iter_mut().for_each(|row| row.label = self.shared(&row.label));
        NodeRun {
            started_unix_ns: run.started_unix_ns,
            method_version: run.method_version,
            host: run.machine.personal.get("host_name").filter(|name| is_known(name)).cloned(),
            facts: self.shared_facts(run.machine.stable),
            tool_version: run.tool_version,
            run: run.id,
            ..reduced
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
