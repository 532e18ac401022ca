//! `[evidence]` and `[[evidence_when]]` of a mechanism's file.

use crate::values::{check_parameters, word};
use serde::Deserialize;
use std::collections::BTreeMap;
use switchcost_model::{EvidenceCase, EvidenceChange, Parameter, RuleNumber};

/// One table: the general rule, or a case with its conditions. What is absent stays as it is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleEntry {
    placement: Option<String>,
    experiment: Option<String>,
    contexts: Option<u64>,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    turns: Option<bool>,
    /// Empty list: any.
    kernel_switches: Option<Vec<f64>>,
    address_spaces: Option<NumberEntry>,
    same_cpu_hops: Option<(f64, f64)>,
    #[serde(default)]
    counts: BTreeMap<String, (f64, f64)>,
    #[serde(default)]
    at_least: BTreeMap<String, NumberEntry>,
    #[serde(default)]
    reached: BTreeMap<String, NumberEntry>,
    #[serde(default)]
    seen: BTreeMap<String, NumberEntry>,
    blocks: Option<bool>,
    seen_forks: Option<f64>,
    most_busy: Option<f64>,
    leaving_ms_each: Option<u64>,
    threads_change: Option<bool>,
    hops_hidden: Option<bool>,
    note: Option<String>,
    #[serde(default)]
    without: BTreeMap<String, String>,
    #[serde(default)]
    tells: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(try_from = "toml::Value")]
struct NumberEntry(RuleNumber);

impl TryFrom<toml::Value> for NumberEntry {
    type Error = String;

    fn try_from(value: toml::Value) -> Result<Self, String> {
        let number = match &value {
            toml::Value::Integer(number) => u64::try_from(*number).ok().map(RuleNumber::Fixed),
            toml::Value::String(word) if word == "contexts" => Some(RuleNumber::Contexts),
            toml::Value::String(sum) => {
                let (name, more) = sum.split_once(" + ").unwrap_or((sum, "0"));
                more.parse().ok().map(|more| RuleNumber::Parameter { name: name.to_owned(), more })
            }
            _ => None,
        };
        number
            .map(Self)
            .ok_or_else(|| format!("{value} is neither a whole number nor \"contexts\" nor \"PARAMETER + N\""))
    }
}

fn change(entry: RuleEntry) -> Result<EvidenceChange, String> {
    let kernel_switches = match entry.kernel_switches.as_deref() {
        None => None,
        Some([]) => Some(None),
        Some(&[low, high]) if 0.0 <= low && low <= high => Some(Some((low, high))),
        Some(_) => return Err("kernel_switches needs [lowest, highest], or [] for any".into()),
    };
    if let Some(text) = entry.tells.values().find(|text| !text.contains("{}")) {
        return Err(format!("tells: `{text}` has no {{}} for the share"));
    }
    let seen = entry.seen.into_iter().map(|(word, number)| Ok((word.parse()?, number.0)));
    let seen = seen.collect::<Result<_, String>>()?;
    for (key, value) in [("seen_forks", entry.seen_forks), ("most_busy", entry.most_busy)] {
        if value.is_some_and(|value| !value.is_finite() || value <= 0.0) {
            return Err(format!("{key} must be above 0"));
        }
    }
    let value = |number: Option<NumberEntry>| number.map(|number| number.0);
    let all = |numbers: BTreeMap<String, NumberEntry>| numbers.into_iter().map(|(k, n)| (k, n.0)).collect();
    Ok(EvidenceChange {
        turns: entry.turns,
        kernel_switches,
        address_spaces: value(entry.address_spaces),
        same_cpu_hops: entry.same_cpu_hops,
        counts: entry.counts,
        at_least: all(entry.at_least),
        reached: all(entry.reached),
        seen,
        blocks: entry.blocks,
        seen_forks: entry.seen_forks,
        most_busy: entry.most_busy,
        leaving_ms_each: entry.leaving_ms_each,
        threads_change: entry.threads_change,
        hops_hidden: entry.hops_hidden,
        note: entry.note,
        without: entry.without,
        tells: entry.tells,
    })
}

/// Reads `[evidence]`.
///
/// # Errors
/// What means nothing, such as a condition: this table holds always.
pub(crate) fn general(entry: RuleEntry) -> Result<EvidenceChange, String> {
    if entry.placement.is_some()
        || entry.experiment.is_some()
        || entry.contexts.is_some()
        || !entry.parameters.is_empty()
    {
        return Err("a rule for some variants belongs into [[evidence_when]]".into());
    }
    change(entry)
}

/// Reads `[[evidence_when]]`; `known` are the parameters of its mechanism.
///
/// # Errors
/// What means nothing, such as a parameter that there is not: the case would never apply.
pub(crate) fn case(mut entry: RuleEntry, known: &BTreeMap<String, Parameter>) -> Result<EvidenceCase, String> {
    let parameters = std::mem::take(&mut entry.parameters);
    // `!VALUE`: any other.
    let named = parameters.iter().map(|(name, value)| (name.clone(), value.trim_start_matches('!').to_owned()));
    check_parameters(&named.collect(), known)?;
    Ok(EvidenceCase {
        placement: entry.placement.as_deref().map(word).transpose()?,
        experiment: entry.experiment.as_deref().map(word).transpose()?,
        contexts: entry.contexts,
        parameters,
        change: change(entry)?,
    })
}
