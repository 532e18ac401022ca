//! Rows that are measured beside the chosen ones: A/A twins, and controls that bound them from
//! below.

use super::{Selection, select};
use crate::{KnownProbe, RequestError};
use std::collections::{BTreeMap, BTreeSet};
use switchcost_catalogue::Catalogue;
use switchcost_model::{Experiment, MechanismId, Parameters, Placement, Request, TWIN, Timing, Variant};

/// Rows of a family from which on it has an A/A pair of its own: one row in four is the most that
/// this may cost.
const ROWS_FOR_TWIN: usize = 4;

impl Selection {
    /// Adds A/A twins: rows that are measured a second time under another label. Each family with
    /// four rows or more gets one, for a pair speaks for rows of its kind; a run without such a
    /// family has one in all, and a run of one row none: it compares nothing.
    ///
    /// The twin is the middle one of the rows that can run, controls apart, and of those on one CPU
    /// if there are any: where the scheduler chooses the CPU, figures come in kinds, and such a
    /// pair would say nothing of the other rows. A switch stands for them rather than another
    /// experiment, and a probe that is quick to start rather than one that is slower than most: one
    /// row must not take a third of the run twice.
    pub fn add_twins(&mut self, catalogue: &Catalogue, probes: &[KnownProbe]) {
        if self.variants.len() < 2 {
            return;
        }
        let control = |variant: &Variant| catalogue.find(&variant.mechanism).is_some_and(|mechanism| mechanism.control);
        // The label is what tells the twin from its original.
        let able: Vec<usize> = (0..self.variants.len())
            .filter(|index| !self.not_run.contains_key(index) && !control(&self.variants[*index]))
            // Counts need no floor: any difference is one.
            .filter(|index| !self.variants[*index].experiment.quantity.exact)
            .filter(|index| self.variants[*index].label.is_empty())
            .collect();
        let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for &index in &able {
            families.entry(self.variants[index].mechanism.family()).or_default().push(index);
        }
        families.retain(|_, rows| rows.len() >= ROWS_FOR_TWIN);
        let kinds: Vec<Vec<usize>> = if families.is_empty() { vec![able] } else { families.into_values().collect() };
        for rows in kinds {
            let pinned: Vec<usize> =
                rows.iter().copied().filter(|&index| self.variants[index].placement == Placement::usual()).collect();
            let rows = if pinned.is_empty() { rows } else { pinned };
            let is_switch = |index: &usize| self.variants[*index].experiment == Experiment::usual();
            let switches: Vec<usize> = rows.iter().copied().filter(is_switch).collect();
            let rows = if switches.is_empty() { rows } else { switches };
            let slow = |index: &usize| {
                let probe = probes.iter().find(|probe| probe.info.id == self.variants[*index].probe);
                probe.map_or(0, |probe| probe.info.start_timeout_ms)
            };
            let mut starts: Vec<u64> = rows.iter().map(slow).collect();
            starts.sort_unstable();
            let usual = starts.get(starts.len().saturating_sub(1) / 2).copied().unwrap_or_default();
            let quick: Vec<usize> = rows.into_iter().filter(|index| slow(index) <= usual).collect();
            if let Some(&middle) = quick.get(quick.len() / 2) {
                if let Some(&sizes) = self.sizes.get(&middle) {
                    self.sizes.insert(self.variants.len(), sizes);
                }
                self.variants.push(Variant { label: TWIN.to_owned(), ..self.variants[middle].clone() });
            }
        }
    }

    /// Adds rows that bound the selected ones from below and are not selected themselves: controls,
    /// without which nobody would notice a switch that a compiler removed, and of a row with a
    /// parameter that adds to its cost the same without it.
    ///
    /// # Errors
    /// As [`select`].
    pub fn add_bounds(
        &mut self,
        request: &Request,
        catalogue: &Catalogue,
        probes: &[KnownProbe],
    ) -> Result<(), RequestError> {
        let able = (0..self.variants.len()).filter(|index| !self.not_run.contains_key(index));
        let mut bounds: BTreeMap<Parameters, BTreeSet<String>> = BTreeMap::new();
        let mut bases = Vec::new();
        for index in able {
            let row = &self.variants[index];
            let Some(mechanism) = catalogue.find(&row.mechanism) else { continue };
            let plain = mechanism.bound.iter().chain(&mechanism.contains);
            let new = |id: &&MechanismId| !self.variants.iter().any(|known| known.mechanism == **id);
            if row.experiment.bounded() {
                bounds.entry(Parameters::new()).or_default().extend(plain.filter(new).map(ToString::to_string));
            }
            for (parameter, name, value, without) in mechanism.additions(row) {
                let with = Parameters::from([(name.to_owned(), value.clone())]);
                bounds.entry(with).or_default().extend(parameter.control.iter().map(ToString::to_string));
                bases.push((index, without));
            }
        }
        for (index, base) in bases {
            if !self.variants.contains(&base) {
                self.sizes.extend(self.sizes.get(&index).map(|&sizes| (self.variants.len(), sizes)));
                self.variants.push(base);
            }
        }
        for (parameters, patterns) in bounds.into_iter().filter(|(_, patterns)| !patterns.is_empty()) {
            let request = Request {
                patterns: patterns.into_iter().collect(),
                probes: Vec::new(),
                experiment: Some(Experiment::usual()),
                contexts: Vec::new(),
                placements: Vec::new(),
                timing: Timing::Batch,
                parameters: parameters.into_iter().map(|(name, value)| (name, vec![value])).collect(),
                ..request.clone()
            };
            self.merge(select(&request, catalogue, probes)?);
        }
        Ok(())
    }
}
