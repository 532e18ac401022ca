//! `list`: every mechanism, and what runs it.

use clap::Parser;
use std::time::Instant;
use switchcost_catalogue::Catalogue;
use switchcost_catalogue::grammar::Pattern;
use switchcost_model::{Install, Mechanism, ParameterKind};
use switchcost_report::{
    ListedMechanism, ListedParameter, ListedProbe, list_json, list_one, list_overview, list_published,
    list_published_json, list_text,
};
use switchcost_runner::{KnownProbe, choices, discover, not_installed};
use switchcost_session::arguments::ListFormat;
use switchcost_session::{Action, Exit, Failure, Installation, output, paths};

/// List mechanisms; of one its placements, parameters and probes
///
/// Where nothing runs one here it says why, and what to install.
#[derive(Parser, Debug)]
#[command(name = "list")]
pub struct List {
    /// Only mechanisms that these name, such as 'stack/*', thread or goroutine; published: the
    /// figures of others that compare takes
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// A line for each: what it is, its language, and the builds that run it here
    #[arg(short, long)]
    pub verbose: bool,
    /// Output format
    #[arg(long, value_name = "F", default_value = "table")]
    pub format: ListFormat,
}

impl Action for List {
    fn carry_out(&self, _: Instant) -> Result<Exit, Failure> {
        if self.patterns == ["published"] {
            let values = switchcost_catalogue::published();
            output::print(&match self.format {
                ListFormat::Table => list_published(&values, output::style()),
                ListFormat::Json => list_published_json(&values),
            })?;
            return Ok(Exit::Fine);
        }
        let installation = Installation::find()?;
        let catalogue = installation.catalogue()?;
        let probes = discover(installation.probes(&catalogue), paths::cache("describe").as_deref(), None, None)
            .unwrap_or_default();
        let patterns: Vec<Pattern<'_>> = self
            .patterns
            .iter()
            .map(|text| catalogue.pattern(text))
            .collect::<Result<_, _>>()
            .map_err(Failure::usage)?;
        let named = |mechanism: &&Mechanism| {
            patterns.is_empty() || patterns.iter().any(|pattern| pattern.names_mechanism(&mechanism.id))
        };
        let mechanisms: Vec<_> =
            catalogue.mechanisms.iter().filter(named).map(|mechanism| listed(mechanism, &probes)).collect();
        if let (Some(first), []) = (patterns.first(), mechanisms.as_slice()) {
            let hint = catalogue.did_you_mean(first.name());
            return Err(Failure::usage(format!("no mechanism matches `{}`{hint}", first.name())));
        }
        let mut remarks = if patterns.is_empty() { remarks(&catalogue, &probes) } else { Vec::new() };
        if patterns.is_empty() && !catalogue.absent.is_empty() {
            let all = || catalogue.absent.iter();
            let names = all().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
            match self.verbose || matches!(self.format, ListFormat::Json) {
                true => remarks.extend(all().map(|(name, why)| format!("not measured: {name}: {why}"))),
                false => remarks.push(format!("not measured: {names}; `switchcost list -v` says why")),
            }
        }
        let families: Vec<_> = catalogue.families.iter().map(|f| (f.id.clone(), f.title.clone())).collect();
        output::print(&match self.format {
            ListFormat::Table if !patterns.is_empty() && mechanisms.len() == 1 => {
                list_one(&mechanisms[0], self.verbose, output::style())
            }
            ListFormat::Table if patterns.is_empty() && !self.verbose => {
                list_overview(&mechanisms, &families, &remarks, output::style())
            }
            ListFormat::Table => list_text(&mechanisms, &families, &remarks, output::style()),
            ListFormat::Json => list_json(&mechanisms, &remarks),
        })?;
        Ok(Exit::Fine)
    }
}

fn listed(mechanism: &Mechanism, probes: &[KnownProbe]) -> ListedMechanism {
    let mut listed: Vec<ListedProbe> = choices(mechanism, probes)
        .into_iter()
        .map(|(probe, described)| ListedProbe {
            id: probe.info.id.clone(),
            runtime: probe.answer.as_ref().ok().map(|(hello, _)| hello.runtime.clone()).filter(|name| name != "none"),
            available: described.unavailable.is_none(),
            reason: described.unavailable.as_ref().map(|why| why.reason.clone()),
            install: described.unavailable.as_ref().and_then(|why| why.install.clone()),
        })
        .collect();
    for source in &mechanism.implemented_by {
        let of_source = |probe: &&KnownProbe| probe.info.source == *source;
        let silent = probes.iter().filter(of_source).filter_map(|probe| Some((probe, probe.answer.as_ref().err()?)));
        listed.extend(silent.map(|(probe, why)| ListedProbe {
            id: probe.info.id.clone(),
            runtime: None,
            available: false,
            reason: Some(why.to_string()),
            install: packages(&probe.info.install).filter(|_| why.missing),
        }));
        if !probes.iter().any(|probe| probe.info.source == *source) {
            let reason = Some(not_installed(source).to_string());
            listed.push(ListedProbe { id: source.clone(), runtime: None, available: false, reason, install: None });
        }
    }
    if listed.is_empty() {
        let of_source = |probe: &&KnownProbe| mechanism.implemented_by.contains(&probe.info.source);
        listed.extend(probes.iter().filter(of_source).map(|probe| ListedProbe {
            id: probe.info.id.clone(),
            runtime: None,
            available: false,
            reason: Some(format!("the probe {} is here and does not describe {}", probe.info.id, mechanism.id)),
            install: None,
        }));
    }
    ListedMechanism {
        id: mechanism.id.to_string(),
        family: mechanism.id.family().to_owned(),
        title: mechanism.title.clone(),
        short: mechanism.short.clone(),
        tags: mechanism.tags.clone(),
        control: mechanism.control,
        experiments: mechanism.experiments.iter().map(ToString::to_string).collect(),
        placements: mechanism.placements.iter().map(ToString::to_string).collect(),
        parameters: mechanism
            .parameters
            .iter()
            .map(|(name, parameter)| ListedParameter {
                name: name.clone(),
                values: match &parameter.kind {
                    ParameterKind::Words(words) => words.join("|"),
                    ParameterKind::Integer { min, max } => format!("{min}..{max}"),
                },
                default: parameter.default.clone(),
                help: parameter.help.clone(),
                experiments: parameter.experiments.iter().map(ToString::to_string).collect(),
            })
            .collect(),
        probes: listed,
    }
}

/// What no row of a mechanism says: what cannot be used, and what probes describe that has no page.
fn remarks(catalogue: &Catalogue, probes: &[KnownProbe]) -> Vec<String> {
    let mut remarks: Vec<String> = catalogue.broken.iter().map(|broken| broken.reason.clone()).collect();
    for probe in probes {
        match &probe.answer {
            Ok((_, described)) => {
                let missing = described.iter().filter(|described| catalogue.find(&described.id).is_none());
                remarks.extend(missing.map(|described| {
                    format!("the probe {} describes {}, which has no page in mechanisms/", probe.info.id, described.id)
                }));
            }
            Err(why)
                if !catalogue
                    .mechanisms
                    .iter()
                    .any(|mechanism| mechanism.implemented_by.contains(&probe.info.source)) =>
            {
                remarks.push(format!("the probe {}: {why}", probe.info.id));
            }
            Err(_) => {}
        }
    }
    remarks
}

/// Names of packages for each system that has them.
pub(super) fn packages(install: &Install) -> Option<String> {
    let systems = [("Debian/Ubuntu", &install.debian), ("Fedora", &install.fedora), ("macOS", &install.macos)];
    let known: Vec<String> = systems
        .into_iter()
        .filter(|(_, packages)| !packages.is_empty())
        .map(|(system, packages)| format!("{packages} ({system})"))
        .collect();
    (!known.is_empty()).then(|| known.join(", "))
}
