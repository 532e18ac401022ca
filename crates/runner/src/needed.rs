//! What is known of a request before a probe is asked: whether it can be met at all, and which
//! probes can answer it. The others are not even started: to ask a Python or a JVM takes longer
//! than to measure a pipe.

use crate::select::{Selection, matching, select};
use crate::{KnownProbe, RequestError, discover};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::Pattern;
use switchcost_machine::cpus::Cpus;
use switchcost_machine::interrupt::Interrupt;
use switchcost_model::{Mechanism, Placement, ProbeInfo, Reason, Request, Variant, cpu_list};

/// Refuses a request that nothing can meet, or a part of it: a placement or a number of contexts
/// that no row can have.
///
/// # Errors
/// As [`select`], and the reason of the first row.
pub fn check(request: &Request, catalogue: &Catalogue, probes: &[ProbeInfo], cpus: &Cpus) -> Result<(), RequestError> {
    let unasked: Vec<KnownProbe> = probes.iter().cloned().map(KnownProbe::unasked).collect();
    let placed = request.placements.iter().map(|one| Request { placements: vec![*one], ..request.clone() });
    let counted = request.contexts.iter().map(|one| Request { contexts: vec![*one], ..request.clone() });
    for part in std::iter::once(request.clone()).chain(placed).chain(counted) {
        if let Some(reason) = impossible(&select(&part, catalogue, &unasked)?, catalogue, cpus) {
            return Err(RequestError::Impossible(reason.to_string()));
        }
    }
    Ok(())
}

/// Why no row of a selection can run, whatever its probes answer: the first row's reason. Controls
/// count only where there is nothing else.
#[must_use]
pub fn impossible(selection: &Selection, catalogue: &Catalogue, cpus: &Cpus) -> Option<Reason> {
    let control = |variant: &Variant| catalogue.find(&variant.mechanism).is_some_and(|known| known.control);
    let only_controls = selection.variants.iter().all(control);
    let asked = selection.variants.iter().enumerate().filter(|(_, variant)| only_controls || !control(variant));
    let reasons = asked.map(|(index, variant)| {
        let known = selection.not_run.get(&index).filter(|reason| senseless(reason)).cloned();
        known.or_else(|| cpus_of(variant.placement, cpus).err())
    });
    reasons.collect::<Option<Vec<_>>>()?.into_iter().next()
}

/// It holds whatever a probe answers.
fn senseless(reason: &Reason) -> bool {
    use Reason::{NoExperiment, NoPlacement, NotOneByOne, RingOfOne, TooManyContexts};
    matches!(reason, NoExperiment { .. } | NoPlacement { .. } | NotOneByOne { .. } | TooManyContexts { .. } | RingOfOne)
}

/// The CPUs of a placement; empty if the scheduler places.
pub(crate) fn cpus_of(placement: Placement, cpus: &Cpus) -> Result<Vec<u32>, Reason> {
    let Some((a, b)) = placement.pair() else {
        return placement.cpus().iter().map(|role| cpus.of(*role)).collect();
    };
    let allowed = cpus.allowed();
    if let Some(cpu) = [a, b].into_iter().find(|cpu| !cpus.grants(*cpu)) {
        return Err(Reason::CpuNotAllowed { cpu, allowed: cpu_list::format(allowed) });
    }
    Ok(if a == b { vec![a] } else { vec![a, b] })
}

/// Those of these probes that may carry out what is asked, or a control that bounds it. All of them
/// where that shows only from their answers: if a mechanism or probe is named that no page or
/// folder knows, or a row of a certain probe is.
#[must_use]
pub fn needed(request: &Request, catalogue: &Catalogue, probes: Vec<ProbeInfo>) -> Vec<ProbeInfo> {
    let mechanisms = matching(request, catalogue).unwrap_or_default();
    let named = |name: &String| probes.iter().any(|probe| probe.id == *name || probe.source == *name);
    if mechanisms.is_empty() || names_a_probe(request) || !request.probes.iter().all(named) {
        return probes;
    }
    let mut sources: BTreeSet<&str> =
        mechanisms.iter().flat_map(|known| known.implemented_by.iter().map(String::as_str)).collect();
    for bound in bounds(&mechanisms, catalogue) {
        let able = probes.iter().filter(|probe| bound.implemented_by.contains(&probe.source));
        sources.extend(able.max_by_key(|probe| probe.priority).map(|probe| probe.source.as_str()));
    }
    let asked = |probe: &ProbeInfo| request.probes.iter().any(|name| probe.id == *name || probe.source == *name);
    let keeps: Vec<bool> = probes.iter().map(|probe| sources.contains(probe.source.as_str()) || asked(probe)).collect();
    probes.into_iter().zip(keeps).filter(|(_, keep)| *keep).map(|(probe, _)| probe).collect()
}

/// As [`discover`], for a request that names no probe: of the builds of one source those with the
/// highest priority are asked, and the others only if these lack or cannot do what it asks for.
/// They would not be chosen, and one of them may take an emulator to start. None: the user wants to
/// stop.
#[must_use]
pub fn discover_for(
    request: &Request,
    catalogue: &Catalogue,
    probes: Vec<ProbeInfo>,
    until: Option<Instant>,
    interrupt: Option<&Interrupt>,
) -> Option<Vec<KnownProbe>> {
    let mechanisms = matching(request, catalogue).unwrap_or_default();
    if mechanisms.is_empty() || names_a_probe(request) || !request.probes.is_empty() {
        return discover(probes, None, until, interrupt);
    }
    let asked: Vec<&Mechanism> = bounds(&mechanisms, catalogue).chain(mechanisms.iter().copied()).collect();
    let order: Vec<String> = probes.iter().map(|probe| probe.id.clone()).collect();
    let mut highest: BTreeMap<String, i64> = BTreeMap::new();
    for probe in &probes {
        let of = highest.entry(probe.source.clone()).or_insert(probe.priority);
        *of = probe.priority.max(*of);
    }
    let (first, others): (Vec<ProbeInfo>, Vec<ProbeInfo>) =
        probes.into_iter().partition(|probe| highest[&probe.source] == probe.priority);
    let mut known = discover(first, None, until, interrupt)?;
    let can = |probe: &KnownProbe| {
        let mut own = asked.iter().filter(|mechanism| mechanism.implemented_by.contains(&probe.info.source));
        own.all(|mechanism| probe.describes(&mechanism.id).is_some_and(|described| described.unavailable.is_none()))
    };
    let cannot = |other: &ProbeInfo| !known.iter().any(|probe| probe.info.source == other.source && can(probe));
    let more = others.into_iter().filter(cannot).collect();
    known.extend(discover(more, None, until, interrupt)?);
    known.sort_by_key(|probe| order.iter().position(|id| *id == probe.info.id));
    Some(known)
}

/// A row of a certain probe is asked for.
fn names_a_probe(request: &Request) -> bool {
    request.patterns.iter().any(|text| Pattern::parse(text).is_ok_and(|pattern| pattern.probe().is_some()))
}

/// The controls beside which these are held.
fn bounds<'c>(mechanisms: &[&'c Mechanism], catalogue: &'c Catalogue) -> impl Iterator<Item = &'c Mechanism> {
    let ids = mechanisms.iter().flat_map(|mechanism| mechanism.bound.iter().chain(&mechanism.contains));
    ids.filter_map(|id| catalogue.find(id)).collect::<Vec<_>>().into_iter()
}
