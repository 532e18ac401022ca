//! Which probes a request can be answered by. The others are not even started: to ask a Python or a JVM takes longer than to measure a pipe.

use crate::select::matching;
use std::collections::BTreeSet;
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::Pattern;
use switchcost_model::{ProbeInfo, Request};

/// Those of these probes that may carry out what is asked, or a control that bounds it. All of them where that shows only from their answers: if a
/// mechanism or probe is named that no page or folder knows, or a row of a certain probe is.
#[must_use]
pub fn needed(request: &Request, catalogue: &Catalogue, probes: Vec<ProbeInfo>) -> Vec<ProbeInfo> {
    let of_probe = |text: &String| Pattern::parse(text).is_ok_and(|pattern| pattern.probe().is_some());
    let mechanisms = matching(request, catalogue).unwrap_or_default();
    let named = |name: &String| probes.iter().any(|probe| probe.id == *name || probe.source == *name);
    if mechanisms.is_empty() || request.patterns.iter().any(of_probe) || !request.probes.iter().all(named) {
        return probes;
    }
    let mut sources: BTreeSet<&str> =
        mechanisms.iter().flat_map(|known| known.implemented_by.iter().map(String::as_str)).collect();
    let bounds = mechanisms.iter().flat_map(|mechanism| mechanism.bound.iter().chain(&mechanism.contains));
    let bounds = bounds.filter_map(|id| catalogue.find(id));
    for bound in bounds {
        let able = probes.iter().filter(|probe| bound.implemented_by.contains(&probe.source));
        sources.extend(able.max_by_key(|probe| probe.priority).map(|probe| probe.source.as_str()));
    }
    let asked = |probe: &ProbeInfo| request.probes.iter().any(|name| probe.id == *name || probe.source == *name);
    let keeps: Vec<bool> = probes.iter().map(|probe| sources.contains(probe.source.as_str()) || asked(probe)).collect();
    probes.into_iter().zip(keeps).filter(|(_, keep)| *keep).map(|(probe, _)| probe).collect()
}
