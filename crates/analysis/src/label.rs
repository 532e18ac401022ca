//! Names of rows.

use crate::curves::{CONTEXTS, NOBODY};
use std::collections::{BTreeMap, BTreeSet};
use switchcost_catalogue::Catalogue;
use switchcost_model::{Experiment, MechanismId, Placement, Run, Timing, Variant};

/// Short name of a variant: what differs from the mechanism's defaults, and the probe where the
/// page does not name its source.
#[must_use]
pub fn label(variant: &Variant, catalogue: &Catalogue, with_probe: bool) -> String {
    let mechanism = catalogue.find(&variant.mechanism);
    let mut words = vec![variant.mechanism.to_string()];
    if with_probe || catalogue.is_foreign(variant) {
        words[0] = format!("{}@{}", words[0], variant.probe);
    }
    if variant.experiment != Experiment::usual() {
        words.push(variant.experiment.to_string());
    }
    if variant.experiment.many && variant.contexts != 2 && variant.contexts != 1 {
        words.push(format!("contexts={}", variant.contexts));
    }
    for (name, value) in &variant.parameters {
        let default =
            mechanism.and_then(|mechanism| mechanism.parameters.get(name)).map(|parameter| &parameter.default);
        if default != Some(value) {
            words.push(format!("{name}={value}"));
        }
    }
    if variant.placement != Placement::usual() {
        words.push(variant.placement.to_string());
    }
    if variant.timing == Timing::Each {
        words.push("each".into());
    }
    if !variant.label.is_empty() {
        words.push(format!("({})", variant.label));
    }
    words.join(" ")
}

/// The label of each variant of a run: with its probe if several carry out the same mechanism.
pub(crate) fn labels(run: &Run, catalogue: &Catalogue) -> Vec<String> {
    let several = several_probes(run);
    run.variants.iter().map(|variant| label(variant, catalogue, several(variant))).collect()
}

/// Whether several probes of a run carry out the same mechanism, which labels must then
/// distinguish. A row that no probe can carry out has none.
pub(crate) fn several_probes(run: &Run) -> impl Fn(&Variant) -> bool {
    let mut probes: BTreeMap<&MechanismId, BTreeSet<&str>> = BTreeMap::new();
    for variant in run.variants.iter().filter(|variant| variant.probe != NOBODY) {
        probes.entry(&variant.mechanism).or_default().insert(&variant.probe);
    }
    move |variant| probes.get(&variant.mechanism).is_some_and(|probes| probes.len() > 1)
}

/// Name of what the rows of a curve share: the label with the axis at its default.
pub(crate) fn shared_label(variant: &Variant, axis: &str, catalogue: &Catalogue, with_probe: bool) -> String {
    let mut shared = variant.clone();
    if axis == CONTEXTS {
        shared.contexts = 2;
    }
    let mechanism = catalogue.find(&variant.mechanism);
    if let Some(parameter) = mechanism.and_then(|mechanism| mechanism.parameters.get(axis)) {
        shared.parameters.insert(axis.to_owned(), parameter.default.clone());
    } else {
        shared.parameters.remove(axis);
    }
    label(&shared, catalogue, with_probe)
}
