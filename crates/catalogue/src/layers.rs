//! `[[layer]]` of a mechanism's file: where its time goes, as differences of measured experiments.

use crate::values::{check_taken, word};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::{Experiment, Explanation, Layer, Mechanism, MechanismId, Placement, Residue, Term, Wanted};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LayerEntry {
    name: String,
    /// Placement of the row that is explained; absent: the mechanism's default.
    placement: Option<String>,
    /// Parameters of the row that is explained.
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    from: Vec<TermEntry>,
    #[serde(default)]
    minus: Vec<TermEntry>,
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResidueEntry {
    placement: Option<String>,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    what: String,
    #[serde(default)]
    test: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TermEntry {
    mechanism: String,
    /// Absent: that of the row that is explained, or the default of a mechanism that has no such
    /// placement.
    placement: Option<String>,
    contexts: Option<u64>,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    #[serde(default = "once")]
    times: f64,
    /// Count of the explained row's evidence that multiplies `times`.
    per: Option<String>,
}

fn once() -> f64 {
    1.0
}

/// The explanations of `mechanism`, each with its layers in the order of the file.
pub(crate) fn explanations(
    mechanism: &Mechanism,
    entries: &[LayerEntry],
    residues: Vec<ResidueEntry>,
    all: &[Mechanism],
) -> Result<Vec<Explanation>, String> {
    let mut found: Vec<Explanation> = Vec::new();
    let known = known_counts(mechanism);
    for entry in entries {
        let in_layer = |what: String| format!("layer `{}`: {what}", entry.name);
        let total = total(mechanism, entry.placement.as_deref(), &entry.parameters).map_err(in_layer)?;
        let layer = layer(entry, total.placement, all, &known).map_err(in_layer)?;
        match found.iter_mut().find(|explanation| explanation.total == total) {
            Some(explanation) => explanation.layers.push(layer),
            None => found.push(Explanation { total, layers: vec![layer], floor_only: false, residue: None }),
        }
    }
    for entry in residues {
        let total = total(mechanism, entry.placement.as_deref(), &entry.parameters)
            .map_err(|what| format!("residue: {what}"))?;
        let residue = Some(Residue { what: entry.what, test: entry.test });
        match found.iter_mut().find(|explanation| explanation.total == total) {
            Some(explanation) if explanation.residue.is_some() => {
                return Err(format!("residue: {total} ({}) has one already", total.placement));
            }
            Some(explanation) => explanation.residue = residue,
            None => found.push(Explanation { total, layers: Vec::new(), floor_only: true, residue }),
        }
    }
    // The row that is meant when nothing more is said comes first.
    let usual = Wanted::plain(mechanism.id.clone(), mechanism.placements[0]);
    found.sort_by_key(|explanation| explanation.total != usual);
    Ok(found)
}

/// What the layers of each mechanism are made of.
pub(crate) type Donors = BTreeMap<String, BTreeSet<String>>;

impl LayerEntry {
    /// The mechanisms it is made of.
    pub(crate) fn donors(&self) -> impl Iterator<Item = &String> {
        self.from.iter().chain(&self.minus).map(|term| &term.mechanism)
    }
}

/// No mechanism explains itself, neither directly nor through others: a sum that is calibrated on
/// what it predicts adds up whatever is true.
pub(crate) fn no_circle(mechanism: &MechanismId, layers: &[LayerEntry], donors: &Donors) -> Result<(), String> {
    for (layer, term) in layers.iter().flat_map(|layer| layer.donors().map(move |term| (&layer.name, term))) {
        if term == mechanism.as_str() {
            return Err(format!(
                "layer `{layer}`: {term} cannot explain itself, whatever its parameters; take the layer from another mechanism"
            ));
        }
        let (mut reached, mut next) = (BTreeSet::new(), vec![term]);
        while let Some(one) = next.pop() {
            if one == mechanism.as_str() {
                return Err(format!(
                    "layer `{layer}`: {term} is itself explained by {mechanism}, and a circle explains nothing"
                ));
            }
            if reached.insert(one) {
                next.extend(donors.get(one).into_iter().flatten());
            }
        }
    }
    Ok(())
}

fn total(
    mechanism: &Mechanism,
    placement: Option<&str>,
    parameters: &BTreeMap<String, String>,
) -> Result<Wanted, String> {
    let placement = placement.map_or(Ok(mechanism.placements[0]), word)?;
    wanted(mechanism, placement, None, parameters)
}

/// What a row of this mechanism counts: kernel switches, and what its rules of evidence name.
fn known_counts(mechanism: &Mechanism) -> BTreeSet<&str> {
    let rules = std::iter::once(&mechanism.evidence).chain(mechanism.evidence_when.iter().map(|case| &case.change));
    let named = rules.flat_map(|rule| rule.counts.keys().map(String::as_str));
    named.chain(["voluntary", "involuntary"]).collect()
}

fn layer(entry: &LayerEntry, placement: Placement, all: &[Mechanism], known: &BTreeSet<&str>) -> Result<Layer, String> {
    if entry.from.is_empty() || entry.why.is_empty() {
        return Err("needs at least one entry in `from`, and a `why`".into());
    }
    let mut terms = Vec::new();
    for (entries, sign) in [(&entry.from, 1.0), (&entry.minus, -1.0)] {
        for term in entries {
            if !term.times.is_finite() || term.times <= 0.0 {
                return Err(format!("times = {} of {} is not above 0", term.times, term.mechanism));
            }
            if let Some(per) = term.per.as_deref().filter(|per| !known.contains(per)) {
                let known = known.iter().copied().collect::<Vec<_>>().join(", ");
                return Err(format!("per = \"{per}\" is not a count of the explained row's evidence; it has {known}"));
            }
            let wanted = term_wanted(term, placement, all)?;
            terms.push(Term { wanted, times: sign * term.times, per: term.per.clone() });
        }
    }
    Ok(Layer { name: entry.name.clone(), terms, why: entry.why.clone() })
}

fn term_wanted(term: &TermEntry, placement: Placement, all: &[Mechanism]) -> Result<Wanted, String> {
    let id: MechanismId = word(&term.mechanism)?;
    let mechanism = all.iter().find(|mechanism| mechanism.id == id).ok_or_else(|| format!("{id} has no file"))?;
    let placement = match &term.placement {
        Some(text) => word(text)?,
        None if mechanism.placements.contains(&placement) => placement,
        None => mechanism.placements[0],
    };
    wanted(mechanism, placement, term.contexts, &term.parameters)
}

/// A row of experiment switch that this mechanism has.
///
/// # Errors
/// What of it the mechanism does not have, as a clause.
pub fn wanted(
    mechanism: &Mechanism,
    placement: Placement,
    contexts: Option<u64>,
    parameters: &BTreeMap<String, String>,
) -> Result<Wanted, String> {
    if !mechanism.placements.contains(&placement) {
        return Err(format!("{} has no placement {placement}", mechanism.id));
    }
    if !mechanism.switches() {
        return Err(format!("{} has no experiment {}", mechanism.id, Experiment::usual()));
    }
    check_taken(parameters, &mechanism.parameters, Experiment::usual())
        .map_err(|what| format!("{}: {what}", mechanism.id))?;
    Ok(Wanted { contexts, parameters: parameters.clone(), ..Wanted::plain(mechanism.id.clone(), placement) })
}
