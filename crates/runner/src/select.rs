//! Request × catalogue × probes → variants.

mod companions;
mod parameters;

pub(crate) use self::parameters::{chosen_experiment, filled};
use self::parameters::{combinations, known_parameters, sized, usual};
use crate::{KnownProbe, NoAnswer, RequestError};
use std::collections::{BTreeMap, BTreeSet};
use switchcost_catalogue::grammar::{Pattern, Word, did_you_mean};
use switchcost_catalogue::{Broken, Catalogue};
use switchcost_model::{
    Described, Experiment, Live, Mechanism, MechanismId, Parameters, Placement, ProbeInfo, Reason, Request, Timing,
    Variant, Wanted,
};

/// What is to be run, and what cannot be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Every row, in the order of the ladder.
    pub variants: Vec<Variant>,
    /// Index → why it will not be run.
    pub not_run: BTreeMap<usize, Reason>,
    /// Index → size of its invocations, where it is not the request's.
    pub sizes: BTreeMap<usize, Sizes>,
    /// How many mechanisms a pattern took in that have no such experiment as was asked, so that they have no row.
    pub left_out: usize,
}

/// How much an invocation does, fixed instead of calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Units in a batch.
    pub batch_units: u64,
    /// Measured batches.
    pub batches: u64,
}

impl Selection {
    /// Takes over the rows of another selection; says where each of them now is.
    pub fn merge(&mut self, other: Self) -> Vec<usize> {
        let Self { variants, mut not_run, sizes, left_out } = other;
        self.left_out += left_out;
        let mut places = Vec::new();
        for (index, variant) in variants.into_iter().enumerate() {
            let known = self.variants.iter().position(|own| *own == variant);
            let place = known.unwrap_or(self.variants.len());
            if known.is_none() {
                self.push(variant, not_run.remove(&index));
                self.sizes.extend(sizes.get(&index).map(|&sizes| (place, sizes)));
            }
            places.push(place);
        }
        places
    }

    /// The same under `label`, each row of these sizes.
    pub fn merge_as(&mut self, mut other: Self, label: &str, sizes: Sizes) -> Vec<usize> {
        for variant in &mut other.variants {
            label.clone_into(&mut variant.label);
        }
        other.sizes = (0..other.variants.len()).map(|index| (index, sizes)).collect();
        self.merge(other)
    }

    pub(crate) fn push(&mut self, variant: Variant, reason: Option<Reason>) {
        if self.variants.contains(&variant) {
            return;
        }
        if let Some(reason) = reason {
            self.not_run.insert(self.variants.len(), reason);
        }
        self.variants.push(variant);
    }
}

/// Probes that implement a mechanism, best first: those of a source that its page names, available ones, then by priority.
#[must_use]
pub fn choices<'a>(mechanism: &Mechanism, probes: &'a [KnownProbe]) -> Vec<(&'a KnownProbe, &'a Described)> {
    let mut found: Vec<_> = probes.iter().filter_map(|probe| Some((probe, probe.describes(&mechanism.id)?))).collect();
    let foreign = |probe: &KnownProbe| !mechanism.implemented_by.contains(&probe.info.source);
    found.sort_by_key(|(probe, described)| {
        (foreign(probe), described.unavailable.is_some(), std::cmp::Reverse(probe.info.priority))
    });
    found
}

/// Resolves a request.
///
/// # Errors
/// A pattern, probe or parameter that means nothing here.
pub fn select(request: &Request, catalogue: &Catalogue, probes: &[KnownProbe]) -> Result<Selection, RequestError> {
    if let Some(rows) = one_by_one(request, probes)? {
        let mut selection = Selection::default();
        for row in rows {
            selection.merge(select(&row, catalogue, probes)?);
        }
        return Ok(selection);
    }
    RequestError::of_length(request).and_then(|()| check_probes(request, probes))?;
    let mechanisms = matching(request, catalogue)?;
    let request = &usual(sized(request, &mechanisms));
    check_parameters(request, &mechanisms)?;
    let mut selection = Selection::default();
    let able = |mechanism: &Mechanism| request.experiment.is_none_or(|asked| mechanism.experiments.contains(&asked));
    let any = mechanisms.iter().any(|mechanism| able(mechanism));
    for mechanism in mechanisms {
        // Whoever names a mechanism, or gets nothing else, is told why it has no figure.
        if any && !able(mechanism) && !request.patterns.iter().any(|pattern| mechanism.id.as_str() == pattern) {
            selection.left_out += 1;
            continue;
        }
        for (experiment, placement, parameters) in shapes(request, mechanism)? {
            let many = experiment.many;
            // Controls that a pattern takes in beside rings stay what they are.
            let named = !mechanism.control || request.patterns.iter().any(|pattern| mechanism.id.as_str() == pattern);
            let contexts = match request.contexts.is_empty() {
                false if many && named => request.contexts.clone(),
                _ => vec![mechanism.usual_contexts(experiment)],
            };
            for contexts in contexts {
                let shape = Variant {
                    mechanism: mechanism.id.clone(),
                    probe: String::new(),
                    experiment,
                    contexts,
                    placement,
                    timing: request.timing,
                    parameters: parameters.clone(),
                    label: String::new(),
                };
                add(&mut selection, request, mechanism, (catalogue, probes), &shape);
            }
        }
    }
    add_broken(&mut selection, request, catalogue);
    Ok(selection)
}

/// A request for each pattern, where one says more of its rows than a mechanism's name: `thread/pipe@gcc-12 free payload=64`.
fn one_by_one(request: &Request, probes: &[KnownProbe]) -> Result<Option<Vec<Request>>, RequestError> {
    let patterns: Vec<Pattern<'_>> = request
        .patterns
        .iter()
        .map(|text| Pattern::parse(text))
        .collect::<Result<_, _>>()
        .map_err(RequestError::BadPattern)?;
    if patterns.iter().all(Pattern::is_plain) {
        return Ok(None);
    }
    patterns.iter().map(|pattern| narrowed(request, pattern, probes)).collect::<Result<_, _>>().map(Some)
}

fn narrowed(request: &Request, pattern: &Pattern<'_>, probes: &[KnownProbe]) -> Result<Request, RequestError> {
    let mut request = Request { patterns: vec![pattern.name().to_owned()], ..request.clone() };
    if let Some(asked) = pattern.probe() {
        let fitting = probes.iter().map(|probe| &probe.info).filter(|info| pattern.fits_probe(&info.id));
        let said = std::mem::take(&mut request.probes);
        let named =
            |info: &&ProbeInfo| said.is_empty() || said.iter().any(|name| [&info.id, &info.source].contains(&name));
        request.probes = fitting.filter(named).map(|info| info.id.clone()).collect();
        if request.probes.is_empty() {
            once(pattern, &format!("@{asked}"), "--probe ", &said, asked)?;
            // The folder of a probe's source, or a name that nobody has.
            request.probes.push(asked.to_owned());
        }
    }
    for word in pattern.words() {
        match word.parse().map_err(RequestError::BadPattern)? {
            Word::Placement(placement) => {
                once(pattern, word, "--placement ", &request.placements, placement)?;
                request.placements = vec![placement];
            }
            Word::Experiment(experiment) => {
                once(pattern, word, "--experiment ", request.experiment.as_slice(), experiment)?;
                request.experiment = Some(experiment);
            }
            Word::Timing(timing) => {
                let said = [request.timing].into_iter().filter(|said| *said != Timing::Batch).collect::<Vec<_>>();
                once(pattern, word, "--timing ", &said, timing)?;
                request.timing = timing;
            }
            Word::Contexts(contexts) => {
                once(pattern, word, "--contexts ", &request.contexts, contexts)?;
                request.contexts = vec![contexts];
            }
            Word::Parameter(name, value) => {
                let said = request.parameters.get(&name).map_or(&[][..], Vec::as_slice);
                once(pattern, word, &format!("--param {name}="), said, value.clone())?;
                request.parameters.insert(name, vec![value]);
            }
        }
    }
    Ok(request)
}

/// Refuses a word of a pattern that says something else than an option, or another word of it, has said.
fn once<T: PartialEq<U> + ToString, U>(
    pattern: &Pattern<'_>,
    word: &str,
    option: &str,
    said: &[T],
    now: U,
) -> Result<(), RequestError> {
    if said.iter().all(|said| *said == now) {
        return Ok(());
    }
    let said = said.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let name = word.split_once('=').map_or(String::new(), |(name, _)| format!("{name}="));
    let own = Some(name + &said).filter(|own| pattern.words().contains(&own.as_str()));
    let other = own.unwrap_or_else(|| format!("{option}{said}"));
    Err(RequestError::Twice { pattern: pattern.text().to_owned(), word: word.to_owned(), other })
}

/// Resolves what data files want, each by the best probe that has it; `request` says how it is measured. The answer has the variant of each
/// of `wanted`, in their order, beside the selection.
///
/// # Errors
/// As [`select`].
pub fn select_wanted(
    wanted: &[Wanted],
    request: &Request,
    catalogue: &Catalogue,
    probes: &[KnownProbe],
) -> Result<(Selection, Vec<Option<usize>>), RequestError> {
    let mut selection = Selection::default();
    let mut places = Vec::new();
    for one in wanted {
        let request = Request {
            patterns: vec![one.mechanism.to_string()],
            experiment: Some(one.experiment),
            contexts: one.contexts.into_iter().collect(),
            placements: vec![one.placement],
            timing: one.timing,
            parameters: one.parameters.iter().map(|(name, value)| (name.clone(), vec![value.clone()])).collect(),
            ..request.clone()
        };
        let found = select(&request, catalogue, probes)?;
        // One place for each that is wanted, also for one that selects nothing: places are found by position.
        places.push(selection.merge(found).first().copied());
    }
    Ok((selection, places))
}

/// Rows of the pages that are asked for and cannot be used.
fn add_broken(selection: &mut Selection, request: &Request, catalogue: &Catalogue) {
    for (id, reason) in broken_pages(&request.patterns, catalogue) {
        let variant = Variant {
            mechanism: id.clone(),
            probe: "-".to_owned(),
            experiment: request.experiment.unwrap_or_else(Experiment::usual),
            contexts: 2,
            placement: request.placements.first().copied().unwrap_or_else(Placement::usual),
            timing: request.timing,
            parameters: Parameters::new(),
            label: String::new(),
        };
        selection.push(variant, Some(Reason::PageBroken { fault: reason.to_owned() }));
    }
}

fn broken_pages<'a>(patterns: &[String], catalogue: &'a Catalogue) -> Vec<(&'a MechanismId, &'a str)> {
    let patterns: Vec<Pattern<'_>> = patterns.iter().filter_map(|text| Pattern::parse(text).ok()).collect();
    let asked = |id: &MechanismId| patterns.iter().any(|pattern| pattern.names_mechanism(id));
    let pages = catalogue.broken.iter().filter_map(|page| Some((page.mechanism.as_ref()?, page.reason.as_str())));
    // Beside a page that is used, one of the same name is only a remark of `list`.
    pages.filter(|(id, _)| asked(id) && catalogue.find(id).is_none()).collect()
}

fn check_probes(request: &Request, probes: &[KnownProbe]) -> Result<(), RequestError> {
    for name in &request.probes {
        if !probes.iter().any(|probe| probe.info.id == *name || probe.info.source == *name) {
            let known = probes.iter().flat_map(|probe| [probe.info.id.as_str(), probe.info.source.as_str()]);
            return Err(RequestError::UnknownProbe { name: name.clone(), hint: did_you_mean(name, known) });
        }
    }
    Ok(())
}

pub(crate) fn matching<'a>(request: &Request, catalogue: &'a Catalogue) -> Result<Vec<&'a Mechanism>, RequestError> {
    if request.patterns.is_empty() {
        // An experiment with cells of its own takes all that have it, whether or not the ladder does.
        let cells = request.experiment.filter(|experiment| !experiment.page().usual.is_empty());
        let taken = |mechanism: &&Mechanism| match cells {
            Some(experiment) => mechanism.experiments.contains(&experiment),
            None => !mechanism.headline.is_empty(),
        };
        return Ok(catalogue.mechanisms.iter().filter(taken).collect());
    }
    let mut chosen = BTreeSet::new();
    for text in &request.patterns {
        let pattern = catalogue.pattern(text).map_err(RequestError::BadPattern)?;
        let fits = |&i: &usize| pattern.names_mechanism(&catalogue.mechanisms[i].id);
        let hits: Vec<usize> = (0..catalogue.mechanisms.len()).filter(fits).collect();
        if hits.is_empty() && broken_pages(std::slice::from_ref(text), catalogue).is_empty() {
            let hint = catalogue.did_you_mean(pattern.name());
            return Err(RequestError::UnknownMechanism { pattern: text.clone(), hint });
        }
        chosen.extend(hits);
    }
    Ok(chosen.into_iter().map(|i| &catalogue.mechanisms[i]).collect())
}

fn check_parameters(request: &Request, mechanisms: &[&Mechanism]) -> Result<(), RequestError> {
    for (name, values) in &request.parameters {
        let having: Vec<_> = mechanisms.iter().filter_map(|mechanism| mechanism.parameters.get(name)).collect();
        if having.is_empty() {
            let known: BTreeSet<&str> =
                mechanisms.iter().flat_map(|mechanism| mechanism.parameters.keys().map(String::as_str)).collect();
            let known = (!known.is_empty()).then(|| known.into_iter().collect::<Vec<_>>().join(", "));
            return Err(RequestError::UnknownParameter { name: name.clone(), known });
        }
        for value in values {
            if let Some(reason) = having.iter().map(|p| p.accepts(value)).reduce(Result::or).and_then(Result::err) {
                return Err(RequestError::BadParameter { name: name.clone(), reason: reason.to_string() });
            }
        }
        check_experiment(name, request, mechanisms)?;
    }
    Ok(())
}

/// A parameter that no chosen mechanism takes in its experiment would label a row with what was not done.
pub(crate) fn check_experiment(name: &str, request: &Request, mechanisms: &[&Mechanism]) -> Result<(), RequestError> {
    let having = || mechanisms.iter().filter_map(|mechanism| Some((*mechanism, mechanism.parameters.get(name)?)));
    if having().next().is_none() || having().any(|(c, _)| c.takes(name, chosen_experiment(request, c)).is_some()) {
        return Ok(());
    }
    let asked: BTreeSet<Experiment> = having().map(|(mechanism, _)| chosen_experiment(request, mechanism)).collect();
    let changed: BTreeSet<Experiment> = having()
        .flat_map(|(mechanism, parameter)| parameter.experiments.iter().filter(|e| mechanism.experiments.contains(e)))
        .copied()
        .collect();
    let list = |all: &BTreeSet<Experiment>, word: &str| {
        all.iter().map(|experiment| format!("{word}{experiment}")).collect::<Vec<_>>().join(" or ")
    };
    let cure = match list(&changed, "--experiment ") {
        flags if flags.is_empty() => "leave it out".to_owned(),
        flags => format!("say {flags} (in compare: {}), or leave it out", list(&changed, "")),
    };
    Err(RequestError::IgnoredParameter {
        name: name.to_owned(),
        asked: list(&asked, ""),
        changed: list(&changed, ""),
        cure,
    })
}

type Shape = (Experiment, Placement, Parameters);

/// Experiment, placement and parameters of the rows of one mechanism.
fn shapes(request: &Request, mechanism: &Mechanism) -> Result<Vec<Shape>, RequestError> {
    let experiment = chosen_experiment(request, mechanism);
    let mut shapes = Vec::new();
    for given in combinations(request, mechanism) {
        if request.patterns.is_empty() && experiment.page().usual.is_empty() {
            for headline in &mechanism.headline {
                let mut parameters = headline.parameters.clone();
                parameters.extend(given.clone());
                let placements =
                    if request.placements.is_empty() { vec![headline.placement] } else { request.placements.clone() };
                shapes.extend(
                    placements.into_iter().map(|p| (experiment, p, filled(mechanism, &parameters, experiment))),
                );
            }
        } else {
            let placements =
                if request.placements.is_empty() { vec![mechanism.placements[0]] } else { request.placements.clone() };
            shapes.extend(placements.into_iter().map(|p| (experiment, p, filled(mechanism, &given, experiment))));
        }
    }
    Ok(shapes)
}

/// Adds one row for each chosen probe, or one row that says why there is none.
fn add(
    selection: &mut Selection,
    request: &Request,
    mechanism: &Mechanism,
    (catalogue, probes): (&Catalogue, &[KnownProbe]),
    shape: &Variant,
) {
    let mut with = |probe: &str, reason: Option<Reason>| {
        selection.push(Variant { probe: probe.to_owned(), ..shape.clone() }, reason);
    };
    if let Some(reason) = senseless(mechanism, shape) {
        return with("-", Some(reason));
    }
    // What a probe of another source means by the mechanism is its own affair: it is measured if it is asked for.
    let asked = |probe: &KnownProbe| {
        (request.probes.is_empty() && mechanism.implemented_by.contains(&probe.info.source))
            || request.probes.iter().any(|name| *name == probe.info.id || *name == probe.info.source)
    };
    let fitting: Vec<_> = choices(mechanism, probes).into_iter().filter(|(probe, _)| asked(probe)).collect();
    if fitting.is_empty() {
        return with("-", Some(nobody(mechanism, probes, &catalogue.broken, asked)));
    }
    let wanted = if request.probes.is_empty() { 1 } else { fitting.len() };
    for (probe, described) in fitting.into_iter().take(wanted) {
        let shape = known_parameters(mechanism, described, shape);
        let reason = cannot(mechanism, described, &shape);
        selection.push(Variant { probe: probe.info.id.clone(), ..shape }, reason);
    }
}

fn senseless(mechanism: &Mechanism, shape: &Variant) -> Option<Reason> {
    let id = mechanism.id.to_string();
    if !mechanism.experiments.contains(&shape.experiment) {
        let known = mechanism.experiments.iter().map(ToString::to_string).collect();
        let (experiment, only) = (shape.experiment.to_string(), shape.experiment.only.clone());
        return Some(Reason::NoExperiment { mechanism: id, experiment, known, only });
    }
    // Contexts that live for a unit or a batch are made, and run, where their maker runs.
    let fits = |place: &Placement| shape.experiment.live == Live::Throughout || !place.on_several_cpus();
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

fn cannot(mechanism: &Mechanism, described: &Described, shape: &Variant) -> Option<Reason> {
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
    let mut reasons: Vec<Reason> = silent
        .into_iter()
        .map(|(probe, silent)| {
            let install = Some(&probe.info.install.debian);
            let package = install.filter(|install| !install.is_empty() && silent.missing).cloned();
            let NoAnswer { why, limits, .. } = silent.clone();
            Reason::ProbeUnable { probe: probe.info.id.clone(), why: why.into(), limits, package }
        })
        .collect();
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

#[cfg(test)]
mod tests;
