//! What a pattern says of its rows besides their name, in a request of its own: from here on a word
//! and an option are one.

use crate::{KnownProbe, RequestError};
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::{Pattern, Word};
use switchcost_model::{ProbeInfo, Request, Timing};

/// A request for each pattern, where one says more of its rows than a mechanism's name:
/// `thread/pipe@gcc-12 free payload=64`.
pub(super) fn one_by_one(
    request: &Request,
    catalogue: &Catalogue,
    probes: &[KnownProbe],
) -> Result<Option<Vec<Request>>, RequestError> {
    let patterns: Vec<Pattern<'_>> = request
        .patterns
        .iter()
        .map(|text| catalogue.pattern(text))
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
            if said.iter().any(|said| said != asked) {
                return Err(twice(pattern, &format!("@{asked}"), &format!("--probe {}", said.join(","))));
            }
            // The folder of a probe's source, or a name that nobody has.
            request.probes.push(asked.to_owned());
        }
    }
    for (text, word) in pattern.said().map_err(RequestError::BadPattern)? {
        let (option, value) = word.option();
        let said = given(&request, &word);
        if said.iter().any(|said| *said != value) {
            return Err(twice(pattern, text, &format!("{option}{}", said.join(","))));
        }
        match word {
            Word::Placement(placement) => request.placements = vec![placement],
            Word::Experiment(experiment) => request.experiment = Some(experiment),
            Word::Timing(timing) => request.timing = timing,
            Word::Contexts(contexts) => request.contexts = vec![contexts],
            Word::Parameter(name, value) => drop(request.parameters.insert(name, vec![value])),
        }
    }
    Ok(request)
}

/// What the option of the same meaning says.
fn given(request: &Request, word: &Word) -> Vec<String> {
    match word {
        Word::Placement(_) => request.placements.iter().map(ToString::to_string).collect(),
        Word::Experiment(_) => request.experiment.iter().map(ToString::to_string).collect(),
        Word::Timing(_) if request.timing == Timing::Batch => Vec::new(),
        Word::Timing(_) => vec![request.timing.to_string()],
        Word::Contexts(_) => request.contexts.iter().map(ToString::to_string).collect(),
        Word::Parameter(name, _) => request.parameters.get(name).cloned().unwrap_or_default(),
    }
}

fn twice(pattern: &Pattern<'_>, word: &str, other: &str) -> RequestError {
    RequestError::Twice { pattern: pattern.text().to_owned(), word: word.to_owned(), other: other.to_owned() }
}
