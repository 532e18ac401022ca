//! `audit.toml`: which measurement stands for which switch of a running program.

use crate::rule::{PriceRule, SwitchKind, Working};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use switchcost_catalogue::{Catalogue, CatalogueError, read, wanted};
use switchcost_model::{IdError, MechanismId};

/// What `audit` goes by.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditData {
    /// In the order of the file; of a kind the first that takes a thread's channel is its price.
    pub rules: Vec<PriceRule>,
    /// Parameter whose sweep shows what a switch costs afterwards, in caches.
    pub indirect_parameter: String,
    /// Mechanism whose sweep is meant when none is stored.
    pub indirect_mechanism: MechanismId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    price: Vec<PriceEntry>,
    indirect: IndirectEntry,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceEntry {
    kind: String,
    #[serde(default)]
    channels: Vec<String>,
    mechanism: String,
    placement: Option<String>,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    #[serde(default)]
    also: Vec<String>,
    between: Option<BetweenEntry>,
    apart: Option<ApartEntry>,
    #[serde(default)]
    unit_is_delay: bool,
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BetweenEntry {
    parameter: String,
    values: Vec<String>,
    alone: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApartEntry {
    parameter: String,
    values: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IndirectEntry {
    parameter: String,
    mechanism: String,
}

/// Reads the file, and checks it against the mechanisms.
///
/// # Errors
/// It is missing, not of the right form, or a kind of switch has no price for threads that wait
/// anywhere.
pub fn load_audit(path: &Path, catalogue: &Catalogue) -> Result<AuditData, CatalogueError> {
    convert(read(path)?, catalogue).map_err(|what| CatalogueError::invalid(path, what))
}

fn convert(file: File, catalogue: &Catalogue) -> Result<AuditData, String> {
    let rules = file.price.into_iter().map(|entry| rule(entry, catalogue)).collect::<Result<Vec<_>, _>>()?;
    // What threads wait in says which of them sleep on timers, so that their price needs no rest.
    for kind in SwitchKind::ALL.into_iter().filter(|kind| *kind != SwitchKind::Timer) {
        if rules.iter().rev().find(|rule| rule.kind == kind).is_none_or(|last| !last.channels.is_empty()) {
            return Err(format!(
                "the last price of kind {} must have no channels, so that it takes the rest",
                kind.as_str()
            ));
        }
    }
    Ok(AuditData {
        rules,
        indirect_parameter: file.indirect.parameter,
        indirect_mechanism: word(&file.indirect.mechanism)?,
    })
}

fn rule(entry: PriceEntry, catalogue: &Catalogue) -> Result<PriceRule, String> {
    let kind = SwitchKind::ALL.into_iter().find(|kind| kind.as_str() == entry.kind);
    let find = |name: &str| {
        let id: MechanismId = word(name)?;
        catalogue.find(&id).ok_or_else(|| format!("price names {id}, which has no file"))
    };
    let mechanism = find(&entry.mechanism)?;
    let placement = entry.placement.as_deref().map_or(Ok(mechanism.placements[0]), word)?;
    let also = entry.also.iter().map(|name| wanted(find(name)?, placement, None, &entry.parameters));
    let with = |parameter: &str, value: &str| {
        let mut parameters = entry.parameters.clone();
        parameters.insert(parameter.to_owned(), value.to_owned());
        wanted(mechanism, placement, None, &parameters)
    };
    if entry.between.is_some() && entry.apart.is_some() {
        return Err(format!(
            "the price of {} has both `between` and `apart`; a price grows with one of them",
            entry.mechanism
        ));
    }
    let apart = entry.apart.iter().flat_map(|time| time.values.iter().map(|value| with(&time.parameter, value)));
    let apart = apart.collect::<Result<_, _>>()?;
    let mut between = Vec::new();
    if let Some(work) = &entry.between {
        for value in &work.values {
            let work_alone: BTreeMap<String, String> = [(work.parameter.clone(), value.clone())].into();
            let alone = find(&work.alone)?;
            between.push(Working {
                with: with(&work.parameter, value)?,
                alone: wanted(alone, alone.placements[0], None, &work_alone)?,
            });
        }
    }
    Ok(PriceRule {
        kind: kind.ok_or_else(|| {
            format!("`{}` is not a kind of switch; say same_cpu, idle_cpu, timer or preempted", entry.kind)
        })?,
        channels: entry.channels,
        also: also.collect::<Result<_, _>>()?,
        between,
        apart,
        wanted: wanted(mechanism, placement, None, &entry.parameters)?,
        unit_is_delay: entry.unit_is_delay,
        why: entry.why,
    })
}

fn word<T: std::str::FromStr<Err = IdError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: IdError| error.0)
}
