//! The words that the host sends: PROTOCOL.md, section 1.

use crate::mechanism::Mechanism;
use crate::plan::Plan;
use crate::refusal::Refusal;
use std::collections::BTreeMap;
use std::str::FromStr;

/// Reads the words after `run`, in any order.
pub fn parse<'a>(words: &[String], list: &'a [Mechanism]) -> Result<(Plan, &'a Mechanism), Refusal> {
    let mut values = Values::split(words)?;
    let id = values.take("mechanism")?;
    let mechanism = list.iter().find(|m| m.id == id).ok_or_else(|| {
        let detail = format!("this probe has no mechanism `{id}`; `describe` lists those it has");
        Refusal::refused("unknown_mechanism", detail)
    })?;
    values.report_fd()?;
    values.word("protocol", &["1"])?;
    let mut parameters = BTreeMap::new();
    for parameter in mechanism.parameters {
        let value = match parameter.words {
            [] => values.number(parameter.name)?.to_string(),
            words => values.word(parameter.name, words)?,
        };
        parameters.insert(parameter.name, value);
    }
    let plan = Plan {
        mechanism: mechanism.id,
        experiment: values.word("experiment", mechanism.experiments)?,
        contexts: values.number("contexts")?,
        timing: values.word("timing", mechanism.timings)?,
        cpus: values.cpus()?,
        batch_units: values.number("batch_units")?,
        batch_ns: values.number("batch_ns")?,
        batches: values.number("batches")?,
        warmup_batches: values.number("warmup_batches")?,
        verify_units: values.number("verify_units")?,
        seed: values.number("seed")?,
        parameters,
    };
    values.nothing_is_left(&format!("neither a key of `run` nor a parameter of {id}"))?;
    Ok((plan, mechanism))
}

/// `describe` knows no key but report_fd.
pub fn check_describe(words: &[String]) -> Result<(), Refusal> {
    let mut values = Values::split(words)?;
    values.report_fd()?;
    values.nothing_is_left("not a key of `describe`; only report_fd is")
}

/// Looked for before anything else is judged, so that even a refusal reaches the host.
#[must_use]
pub fn report_fd(words: &[String]) -> i32 {
    let named = |word: &String| word.strip_prefix("report_fd=")?.parse().ok();
    words.iter().find_map(named).unwrap_or(1)
}

fn bad(detail: impl Into<String>) -> Refusal {
    Refusal::refused("bad_value", detail)
}

fn number<N: FromStr>(text: &str) -> Option<N> {
    text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()))
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

    fn take(&mut self, key: &str) -> Result<String, Refusal> {
        self.0.remove(key).ok_or_else(|| {
            bad(format!("`{key}` is missing; a plan has every key, and every parameter that `describe` lists"))
        })
    }

    /// The one key that has a default.
    fn report_fd(&mut self) -> Result<(), Refusal> {
        if self.0.contains_key("report_fd") {
            self.number("report_fd").map(drop)
        } else {
            Ok(())
        }
    }

    fn number(&mut self, key: &str) -> Result<u64, Refusal> {
        let text = self.take(key)?;
        number(&text).ok_or_else(|| bad(format!("`{key}={text}` must be an integer")))
    }

    fn word(&mut self, key: &str, words: &[&str]) -> Result<String, Refusal> {
        let text = self.take(key)?;
        match words.contains(&text.as_str()) {
            true => Ok(text),
            false => Err(bad(format!("`{key}={text}` must be one of: {}", words.join(", ")))),
        }
    }

    fn cpus(&mut self) -> Result<Vec<u32>, Refusal> {
        let text = self.take("cpus")?;
        let cpus: Option<_> = text.split(',').filter(|_| !text.is_empty()).map(number).collect();
        cpus.ok_or_else(|| bad(format!("`cpus={text}` must be a list of CPU numbers such as 0,1")))
    }

    fn nothing_is_left(&self, unless: &str) -> Result<(), Refusal> {
        let key = self.0.keys().next();
        key.map_or(Ok(()), |key| Err(Refusal::refused("unknown_key", format!("`{key}` is {unless}"))))
    }
}
