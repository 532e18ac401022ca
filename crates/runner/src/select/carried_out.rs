//! Which probe carries a row out, or why none can.

use crate::{KnownProbe, NoAnswer};
use switchcost_catalogue::{Broken, Catalogue};
use switchcost_model::{Described, Mechanism, NAMED_PRIORITY, Placement, Reason, Request, Timing, Variant};

/// Probes that implement a mechanism, best first: those of a source that its page names, available
/// ones, then by priority.
#[must_use]
pub fn choices<'a>(mechanism: &Mechanism, probes: &'a [KnownProbe]) -> Vec<(&'a KnownProbe, &'a Described)> {
    let mut found: Vec<_> = probes.iter().filter_map(|probe| Some((probe, probe.describes(&mechanism.id)?))).collect();
    let foreign = |probe: &KnownProbe| !mechanism.implemented_by.contains(&probe.info.source);
    found.sort_by_key(|(probe, described)| {
        (foreign(probe), described.unavailable.is_some(), std::cmp::Reverse(probe.info.priority))
    });
    found
}

/// The row by each chosen probe, with why it cannot run, or one row that says why there is none.
pub(super) fn carried_out(
    shape: &Variant,
    request: &Request,
    mechanism: &Mechanism,
    catalogue: &Catalogue,
    probes: &[KnownProbe],
) -> Vec<(Variant, Option<Reason>)> {
    let nowhere = |reason| vec![(Variant { probe: "-".to_owned(), ..shape.clone() }, Some(reason))];
    if let Some(reason) = senseless(mechanism, shape) {
        return nowhere(reason);
    }
    // What a probe of another source means by the mechanism is its own affair: it is measured if it
    // is asked for.
    let of_page = |probe: &KnownProbe| mechanism.implemented_by.contains(&probe.info.source);
    // Not by another in its place, if one whose folder is named cannot.
    let named = |probe: &KnownProbe| probe.info.priority == NAMED_PRIORITY && of_page(probe);
    let only_named = probes.iter().any(named);
    let asked = |probe: &KnownProbe| {
        (request.probes.is_empty() && if only_named { named(probe) } else { of_page(probe) })
            || request.probes.iter().any(|name| *name == probe.info.id || *name == probe.info.source)
    };
    let fitting: Vec<_> = choices(mechanism, probes).into_iter().filter(|(probe, _)| asked(probe)).collect();
    if fitting.is_empty() {
        return nowhere(nobody(mechanism, probes, &catalogue.broken, asked));
    }
    let wanted = if request.probes.is_empty() && !only_named { 1 } else { fitting.len() };
    let by = |(probe, described): (&KnownProbe, &Described)| {
        let shape = known_parameters(mechanism, described, shape);
        let reason = cannot(mechanism, described, &shape);
        (Variant { probe: probe.info.id.clone(), ..shape }, reason)
    };
    let rows = fitting.into_iter().take(wanted).map(by);
    // Who is asked for by its own name or folder and does not answer has a row that says so, also
    // beside others.
    let own = |probe: &KnownProbe| named(probe) || of_page(probe) && request.probes.contains(&probe.info.id);
    let silent = probes.iter().filter(|probe| own(probe));
    let silent = silent.filter_map(|probe| Some((probe, probe.answer.as_ref().err()?)));
    let silent = silent
        .map(|(probe, why)| (Variant { probe: probe.info.id.clone(), ..shape.clone() }, Some(unable(probe, why))));
    rows.chain(silent).collect()
}

/// Why a probe that does not answer carries nothing out.
fn unable(probe: &KnownProbe, silent: &NoAnswer) -> Reason {
    let install = Some(&probe.info.install.debian);
    let package = install.filter(|install| !install.is_empty() && silent.missing).cloned();
    let NoAnswer { why, limits, .. } = silent.clone();
    Reason::ProbeUnable { probe: probe.info.id.clone(), why: why.into(), limits, package }
}

/// Every parameter is sent, with its default where nothing was asked; but what a probe does not
/// describe it would refuse.
pub(super) fn known_parameters(mechanism: &Mechanism, described: &Described, shape: &Variant) -> Variant {
    let mut shape = shape.clone();
    shape.parameters.retain(|name, value| {
        described.parameters.contains(name)
            || mechanism.parameters.get(name).is_none_or(|known| known.by_host || known.default != *value)
    });
    shape
}

pub(super) fn senseless(mechanism: &Mechanism, shape: &Variant) -> Option<Reason> {
    let id = mechanism.id.to_string();
    if !mechanism.experiments.contains(&shape.experiment) {
        let known = mechanism.experiments.iter().map(ToString::to_string).collect();
        let (experiment, only) = (shape.experiment.to_string(), shape.experiment.only.clone());
        return Some(Reason::NoExperiment { mechanism: id, experiment, known, only });
    }
    let fits = |place: &Placement| shape.experiment.fits(*place);
    if !mechanism.placements.contains(&shape.placement.kind()) || !fits(&shape.placement) {
        let known = mechanism.placements.iter().filter(|place| fits(place)).map(ToString::to_string).collect();
        return Some(Reason::NoPlacement { mechanism: id, placement: shape.placement.to_string(), known });
    }
    if shape.timing == Timing::Each && !shape.experiment.each {
        return Some(Reason::NotOneByOne { experiment: shape.experiment.to_string() });
    }
    if let Some(most) = mechanism.bound_of_contexts(shape.experiment).filter(|most| shape.contexts > *most) {
        return Some(Reason::TooManyContexts { mechanism: id, most });
    }
    (shape.experiment.ring && shape.contexts < 2 && !mechanism.control).then_some(Reason::RingOfOne)
}

pub(super) fn cannot(mechanism: &Mechanism, described: &Described, shape: &Variant) -> Option<Reason> {
    if let Some(unavailable) = &described.unavailable {
        return Some(Reason::Unavailable { why: unavailable.reason.clone(), package: unavailable.install.clone() });
    }
    let lacks = |what: &str, name: &str| {
        let mechanism = shape.mechanism.to_string();
        Some(Reason::ProbeLacks { what: what.to_owned(), name: name.to_owned(), mechanism })
    };
    if !described.experiments.contains(&shape.experiment) {
        return lacks("experiment", shape.experiment.as_str());
    }
    let sent = |name: &&String| !mechanism.parameters.get(*name).is_some_and(|known| known.by_host);
    if let Some(name) = shape.parameters.keys().filter(sent).find(|name| !described.parameters.contains(name)) {
        return lacks("parameter", name);
    }
    if described.timings.contains(&shape.timing) { None } else { lacks("timing", shape.timing.as_str()) }
}

/// No installed probe is of that source: `make run` builds only what the ladder takes.
#[must_use]
pub fn not_installed(kit: &str) -> Reason {
    Reason::NotInstalled { kit: kit.to_owned() }
}

/// Why no probe can carry the mechanism out.
fn nobody(
    mechanism: &Mechanism,
    probes: &[KnownProbe],
    broken: &[Broken],
    asked: impl Fn(&KnownProbe) -> bool,
) -> Reason {
    let mut silent: Vec<(&KnownProbe, &NoAnswer)> = probes
        .iter()
        .filter(|probe| mechanism.implemented_by.contains(&probe.info.source) && asked(probe))
        .filter_map(|probe| Some((probe, probe.answer.as_ref().err()?)))
        .collect();
    // With more time it may be the one, whatever the others lack.
    if silent.iter().any(|(_, why)| why.is_late()) {
        silent.retain(|(_, why)| why.is_late());
    }
    let mut reasons: Vec<Reason> = silent.into_iter().map(|(probe, silent)| unable(probe, silent)).collect();
    if reasons.is_empty() {
        let here = probes.iter().filter(|probe| asked(probe) && probe.answer.is_ok());
        let silent: Vec<&str> = here.map(|probe| probe.info.id.as_str()).collect();
        let kits = mechanism.implemented_by.join(", probes/");
        let installed = |source: &String| probes.iter().any(|probe| probe.info.source == *source);
        reasons.push(match silent[..] {
            [] if !mechanism.implemented_by.iter().any(installed) => {
                not_installed(&mechanism.implemented_by.join(" or "))
            }
            [] => Reason::NotChosen { kits },
            _ => Reason::NotDescribed { probes: silent.join(", "), kits },
        });
        let foreign = probes.iter().find(|probe| probe.describes(&mechanism.id).is_some());
        reasons.extend(
            foreign.map(|probe| Reason::OfAnotherKit { probe: probe.info.id.clone(), kit: probe.info.source.clone() }),
        );
        let unnamed = broken.iter().filter(|broken| broken.mechanism.is_none());
        reasons.extend(unnamed.map(|broken| Reason::PageBroken { fault: broken.reason.clone() }));
    }
    if reasons.len() == 1 { reasons.remove(0) } else { Reason::Several { reasons } }
}
