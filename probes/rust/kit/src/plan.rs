//! One `run`, as asked: parsed once, never changed. What calibration makes of it stands in the `plan` message.

use crate::measure::Mechanism;
use crate::working_set::WORKING_SET;
use std::collections::BTreeMap;

/// A plan with every default filled in.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) mechanism: &'static str,
    /// What to measure of the mechanism.
    pub experiment: String,
    /// Size of the ring.
    pub contexts: u64,
    pub(crate) timing: String,
    pub(crate) cpus: Vec<u32>,
    pub(crate) batch_units: u64,
    pub(crate) batch_ns: u64,
    pub(crate) batches: u64,
    pub(crate) warmup_batches: u64,
    pub(crate) verify_units: u64,
    /// Every parameter of the mechanism.
    pub parameters: BTreeMap<&'static str, String>,
}

impl Plan {
    /// Value of a parameter that the mechanism has.
    #[must_use]
    pub fn parameter(&self, name: &str) -> &str {
        self.parameters.get(name).map_or("", String::as_str)
    }

    /// Value of a parameter that is an integer; 0 for a mechanism that has no such parameter.
    #[must_use]
    pub fn number(&self, name: &str) -> u64 {
        self.parameter(name).parse().unwrap_or(0)
    }

    /// CPU of a context; None: the scheduler places it.
    #[must_use]
    pub fn cpu_of(&self, context: u64) -> Option<u32> {
        let turn = context.checked_rem(self.cpus.len() as u64)?;
        self.cpus.get(turn as usize).copied()
    }
}

/// A parameter of a mechanism.
#[derive(Debug)]
pub struct Parameter {
    /// Its key in the plan.
    pub name: &'static str,
    /// What it may be.
    pub kind: ParameterKind,
    /// Used when nothing is said.
    pub default: &'static str,
}

/// What a parameter may be.
#[derive(Debug)]
pub enum ParameterKind {
    /// One of these words.
    Words(&'static [&'static str]),
    /// An integer in this range.
    Integer {
        /// Lowest.
        min: u64,
        /// Highest.
        max: u64,
    },
}

/// Why a run does not take place or came to nothing; becomes the `end` message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub(crate) status: &'static str,
    pub(crate) code: &'static str,
    pub(crate) detail: String,
}

impl Refusal {
    /// The plan is bad.
    #[must_use]
    pub fn refused(code: &'static str, detail: impl Into<String>) -> Self {
        Self { status: "refused", code, detail: detail.into() }
    }

    /// The plan is fine, but this machine cannot carry it out.
    #[must_use]
    pub fn unsupported(code: &'static str, detail: impl Into<String>) -> Self {
        Self { status: "unsupported", code, detail: detail.into() }
    }

    /// Something broke.
    #[must_use]
    pub fn failed(code: &'static str, detail: impl Into<String>) -> Self {
        Self { status: "failed", code, detail: detail.into() }
    }

    /// Whether the process must end with a status other than 0.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        self.status != "unsupported"
    }
}

/// The sentence for people.
impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.detail)
    }
}

// The limits of PROTOCOL.md, section 1.
pub(crate) const MOST_UNITS: u64 = 1_000_000_000_000;
const MOST_BATCHES: u64 = 1_000_000;
const MOST_CONTEXTS: u64 = 1 << 24;
const MOST_CPU: u32 = (1 << 20) - 1;
const MOST_DESCRIPTOR: u64 = 1 << 20;

/// Reads the words after `run`. The mechanism must be known before its parameters can be told from typing errors, so it
/// is looked for first; the order of the words does not matter.
pub fn parse<'a>(words: &[String], list: &'a [Mechanism]) -> Result<(Plan, &'a Mechanism), Refusal> {
    let mut values = Values(split(words)?);
    let id =
        values.0.remove("mechanism").ok_or_else(|| bad("`mechanism` is missing; `describe` lists the mechanisms"))?;
    let mechanism = list.iter().find(|m| m.id == id).ok_or_else(|| {
        let detail = format!("this probe has no mechanism `{id}`; `describe` lists those it has");
        Refusal::refused("unknown_mechanism", detail)
    })?;
    // An unknown key is said before a bad value: it may be the reason of it.
    let known = |key: &str| KEYS.contains(&key) || mechanism.parameters.iter().any(|p| p.name == key);
    if let Some(key) = values.0.keys().find(|key| !known(key)) {
        let detail = format!("`{key}` is neither a key of `run` nor a parameter of {id}");
        return Err(Refusal::refused("unknown_key", detail));
    }
    values.integer("report_fd", 1, 0, MOST_DESCRIPTOR)?;
    values.integer("protocol", 1, 1, 1)?;
    values.integer("seed", 0, 0, i64::MAX as u64)?;
    let mut parameters = BTreeMap::new();
    for parameter in mechanism.parameters {
        parameters.insert(parameter.name, values.parameter(parameter)?);
    }
    let plan = Plan {
        mechanism: mechanism.id,
        experiment: values.word("experiment", "switch", mechanism.experiments)?,
        contexts: values.integer("contexts", 2, 1, MOST_CONTEXTS)?,
        timing: values.word("timing", "batch", mechanism.timings)?,
        cpus: values.cpus("cpus")?,
        batch_units: values.integer("batch_units", 0, 0, MOST_UNITS)?,
        batch_ns: values.integer("batch_ns", 1_000_000, 1, MOST_UNITS)?,
        batches: values.integer("batches", 30, 1, MOST_BATCHES)?,
        warmup_batches: values.integer("warmup_batches", 5, 0, MOST_BATCHES)?,
        verify_units: values.integer("verify_units", 1000, 0, MOST_CONTEXTS)?,
        parameters,
    };
    if plan.experiment != "switch" && plan.number(WORKING_SET.name) != 0 {
        let detail =
            format!("`working_set` belongs to experiment=switch; leave it out with experiment={}", plan.experiment);
        return Err(bad(detail));
    }
    Ok((plan, mechanism))
}

const KEYS: &[&str] = &[
    "batch_ns",
    "batch_units",
    "batches",
    "contexts",
    "cpus",
    "experiment",
    "protocol",
    "report_fd",
    "seed",
    "timing",
    "verify_units",
    "warmup_batches",
];

/// `describe` knows no key but report_fd.
pub fn check_describe(words: &[String]) -> Result<(), Refusal> {
    let mut values = Values(split(words)?);
    values.integer("report_fd", 1, 0, MOST_DESCRIPTOR)?;
    match values.0.keys().next() {
        None => Ok(()),
        Some(key) => {
            Err(Refusal::refused("unknown_key", format!("`{key}` is not a key of `describe`; only report_fd is")))
        }
    }
}

/// Looked for before anything else is judged, so that even a refusal reaches the host.
#[must_use]
pub fn report_fd(words: &[String]) -> i32 {
    let named = |word: &String| {
        let fd = word.strip_prefix("report_fd=")?.parse().ok()?;
        (0..=MOST_DESCRIPTOR as i32).contains(&fd).then_some(fd)
    };
    words.iter().find_map(named).unwrap_or(1)
}

fn bad(detail: impl Into<String>) -> Refusal {
    Refusal::refused("bad_value", detail)
}

fn split(words: &[String]) -> Result<BTreeMap<String, String>, Refusal> {
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
    Ok(values)
}

struct Values(BTreeMap<String, String>);

impl Values {
    fn integer(&mut self, key: &str, default: u64, min: u64, max: u64) -> Result<u64, Refusal> {
        let Some(text) = self.0.remove(key) else { return Ok(default) };
        let digits_only = text.bytes().all(|b| b.is_ascii_digit());
        let value = text.parse().ok().filter(|value| digits_only && (min..=max).contains(value));
        value.ok_or_else(|| bad(format!("`{key}={text}` must be an integer from {min} to {max}")))
    }

    fn word(&mut self, key: &str, default: &str, words: &[&str]) -> Result<String, Refusal> {
        match self.0.remove(key) {
            None => Ok(default.to_owned()),
            Some(text) if words.contains(&text.as_str()) => Ok(text),
            Some(text) => Err(bad(format!("`{key}={text}` must be one of: {}", words.join(", ")))),
        }
    }

    fn cpus(&mut self, key: &str) -> Result<Vec<u32>, Refusal> {
        let text = self.0.remove(key).unwrap_or_default();
        let wrong = || bad(format!("`{key}={text}` must be a list of CPU numbers from 0 to {MOST_CPU} such as 0,1"));
        let cpu = |part: &str| {
            let digits_only = part.bytes().all(|b| b.is_ascii_digit());
            part.parse().ok().filter(|&cpu| digits_only && cpu <= MOST_CPU).ok_or_else(wrong)
        };
        text.split(',').filter(|_| !text.is_empty()).map(cpu).collect()
    }

    fn parameter(&mut self, parameter: &Parameter) -> Result<String, Refusal> {
        match parameter.kind {
            ParameterKind::Words(words) => self.word(parameter.name, parameter.default, words),
            ParameterKind::Integer { min, max } => {
                let default = parameter.default.parse().unwrap_or(min);
                self.integer(parameter.name, default, min, max).map(|value| value.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[Mechanism] = &[Mechanism {
        id: "fiber/test",
        experiments: &["switch", "create"],
        parameters: &[
            Parameter { name: "payload", kind: ParameterKind::Integer { min: 1, max: 64 }, default: "8" },
            Parameter { name: "speed", kind: ParameterKind::Words(&["low", "high"]), default: "low" },
        ],
        timings: &["batch", "each"],
        pins: false,
        unavailable: || None,
        set_up: |_| Err(Refusal::failed("set_up_failed", "")),
        hold: None,
    }];

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn defaults_are_those_of_the_protocol() {
        let (plan, _) = parse(&words("mechanism=fiber/test cpus=1 speed=high"), LIST).unwrap();
        assert_eq!((plan.contexts, plan.batches, plan.warmup_batches), (2, 30, 5));
        assert_eq!((plan.batch_ns, plan.verify_units), (1_000_000, 1000));
        assert_eq!((plan.parameter("payload"), plan.parameter("speed"), &plan.cpus[..]), ("8", "high", &[1][..]));
        let (several, _) = parse(&words("mechanism=fiber/test cpus=3,5"), LIST).unwrap();
        assert_eq!([0, 1, 2].map(|context| several.cpu_of(context)), [Some(3), Some(5), Some(3)]);
        let (none, _) = parse(&words("mechanism=fiber/test"), LIST).unwrap();
        assert_eq!(none.cpu_of(1), None);
    }
}
