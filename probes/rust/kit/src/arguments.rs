//! The words that the host sends: PROTOCOL.md, section 1.

use crate::mechanism::Mechanism;
use crate::plan::{ParameterKind, Plan};
use crate::refusal::Refusal;
use crate::working_set::WORKING_SET;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Largest k.
pub(crate) const MOST_UNITS: u64 = 1_000_000_000_000;
const MOST_BATCHES: u64 = 1_000_000;
const MOST_CONTEXTS: u64 = 1 << 24;
const CPUS: RangeInclusive<u64> = 0..=(1 << 20) - 1;
const DESCRIPTORS: RangeInclusive<u64> = 0..=1 << 20;

/// Reads the words after `run`; their order does not matter.
pub fn parse<'a>(words: &[String], list: &'a [Mechanism]) -> Result<(Plan, &'a Mechanism), Refusal> {
    let mut values = Values::split(words)?;
    let id = values.take("mechanism").ok_or_else(|| bad("`mechanism` is missing; `describe` lists the mechanisms"))?;
    let mechanism = list.iter().find(|m| m.id == id).ok_or_else(|| {
        let detail = format!("this probe has no mechanism `{id}`; `describe` lists those it has");
        Refusal::refused("unknown_mechanism", detail)
    })?;
    values.number("report_fd", 1, DESCRIPTORS)?;
    values.number("protocol", 1, 1..=1)?;
    let seed = values.number("seed", 0, 0..=i64::MAX as u64)?;
    let mut parameters = BTreeMap::new();
    for parameter in mechanism.parameters {
        let value = match parameter.kind {
            ParameterKind::Words(words) => values.word(parameter.name, parameter.default, words)?,
            ParameterKind::Integer { min, max } => {
                let default = parameter.default.parse().unwrap_or(min);
                values.number(parameter.name, default, min..=max)?.to_string()
            }
        };
        parameters.insert(parameter.name, value);
    }
    let plan = Plan {
        mechanism: mechanism.id,
        experiment: values.word("experiment", "switch", mechanism.experiments)?,
        contexts: values.number("contexts", 2, 1..=MOST_CONTEXTS)?,
        timing: values.word("timing", "batch", mechanism.timings)?,
        cpus: values.cpus()?,
        batch_units: values.number("batch_units", 0, 0..=MOST_UNITS)?,
        batch_ns: values.number("batch_ns", 1_000_000, 1..=MOST_UNITS)?,
        batches: values.number("batches", 30, 1..=MOST_BATCHES)?,
        warmup_batches: values.number("warmup_batches", 5, 0..=MOST_BATCHES)?,
        verify_units: values.number("verify_units", 1000, 0..=MOST_CONTEXTS)?,
        seed,
        parameters,
    };
    values.nothing_is_left(&format!("neither a key of `run` nor a parameter of {id}"))?;
    if plan.experiment != "switch" && plan.number(WORKING_SET.name) != 0 {
        let detail =
            format!("`working_set` belongs to experiment=switch; leave it out with experiment={}", plan.experiment);
        return Err(bad(detail));
    }
    Ok((plan, mechanism))
}

/// `describe` knows no key but report_fd.
pub fn check_describe(words: &[String]) -> Result<(), Refusal> {
    let mut values = Values::split(words)?;
    values.number("report_fd", 1, DESCRIPTORS)?;
    values.nothing_is_left("not a key of `describe`; only report_fd is")
}

/// Looked for before anything else is judged, so that even a refusal reaches the host.
#[must_use]
pub fn report_fd(words: &[String]) -> i32 {
    let named = |word: &String| number_in(word.strip_prefix("report_fd=")?, DESCRIPTORS);
    words.iter().find_map(named).unwrap_or(1) as i32
}

fn bad(detail: impl Into<String>) -> Refusal {
    Refusal::refused("bad_value", detail)
}

/// Digits only, and in the range.
fn number_in(text: &str, range: RangeInclusive<u64>) -> Option<u64> {
    let digits_only = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|value| digits_only && range.contains(value))
}

/// Values by their keys; each is taken out as it is read.
struct Values(BTreeMap<String, String>);

impl Values {
    fn split(words: &[String]) -> Result<Self, Refusal> {
        let mut values = BTreeMap::new();
        for word in words {
            let (key, value) = word
                .split_once('=')
                .filter(|(key, _)| !key.is_empty())
                .ok_or_else(|| Refusal::refused("unknown_key", format!("`{word}` is not of the form key=value")))?;
            if !value.bytes().all(|b| b.is_ascii_alphanumeric() || b"._,/+-".contains(&b)) {
                return Err(bad(format!("the value of `{key}` may hold only letters, digits and . _ , / + -")));
            }
            if values.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(bad(format!("`{key}` is given twice; give it once")));
            }
        }
        Ok(Self(values))
    }

    fn take(&mut self, key: &str) -> Option<String> {
        self.0.remove(key)
    }

    fn number(&mut self, key: &str, default: u64, range: RangeInclusive<u64>) -> Result<u64, Refusal> {
        let Some(text) = self.take(key) else { return Ok(default) };
        number_in(&text, range.clone())
            .ok_or_else(|| bad(format!("`{key}={text}` must be an integer from {} to {}", range.start(), range.end())))
    }

    fn word(&mut self, key: &str, default: &str, words: &[&str]) -> Result<String, Refusal> {
        let text = self.take(key).unwrap_or_else(|| default.to_owned());
        match words.contains(&text.as_str()) {
            true => Ok(text),
            false => Err(bad(format!("`{key}={text}` must be one of: {}", words.join(", ")))),
        }
    }

    fn cpus(&mut self) -> Result<Vec<u32>, Refusal> {
        let text = self.take("cpus").unwrap_or_default();
        let cpu = |part: &str| number_in(part, CPUS).map(|cpu| cpu as u32);
        let cpus: Option<_> = text.split(',').filter(|_| !text.is_empty()).map(cpu).collect();
        cpus.ok_or_else(|| {
            bad(format!("`cpus={text}` must be a list of CPU numbers from 0 to {} such as 0,1", CPUS.end()))
        })
    }

    fn nothing_is_left(&self, unless: &str) -> Result<(), Refusal> {
        let key = self.0.keys().next();
        key.map_or(Ok(()), |key| Err(Refusal::refused("unknown_key", format!("`{key}` is {unless}"))))
    }
}
