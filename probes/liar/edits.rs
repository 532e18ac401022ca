//! Edits of a message: `PATH OPERATION [VALUE]`.
//!
//! PATH begins with the kind of message, `samples[measure]` for those of one phase, and goes on
//! with the names of fields, or indices of lists, after dots. OPERATION:
//!
//! - `= VALUE`: it becomes that, and is made if it is not there; VALUE is JSON, or a number that
//!   the liar knows (`$units`, `$contexts`, `$turns`: turns per context, `$samples`: batches),
//!   times something (`$units*0.5`), or the CPUs that were asked for (`$cpus`),
//! - `*= VALUE`, `+= VALUE`: each of its numbers is changed,
//! - `fill VALUE`: a list gets so many elements of this value as batches of its phase were asked;
//!   `cycle VALUE`: a list gets as many that repeat after VALUE of them, each a tick more than the
//!   one ahead of it,
//! - `like PATH`: it becomes what stands there in the same message,
//! - `delete`: the field goes; of a whole message: it is not sent; `twice`: a whole message is sent
//!   twice; `scale VALUE`: all intervals of a histogram are so many times as long.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Numbers that edits may use: as asked by the host, and as told so far.
#[derive(Debug, Default)]
pub struct Known {
    pub cpus: Vec<u64>,
    pub contexts: u64,
    pub batches: u64,
    pub warmup: u64,
    pub units: u64,
    pub samples: u64,
}

impl Known {
    /// As the plan asks, nothing told yet.
    pub fn of(plan: &BTreeMap<String, String>) -> Self {
        let number = |key: &str| plan.get(key).and_then(|value| value.parse().ok()).unwrap_or(0);
        let cpus = plan.get("cpus").map_or("", String::as_str).split(',').filter_map(|cpu| cpu.parse().ok()).collect();
        let (contexts, batches, warmup) = (number("contexts"), number("batches"), number("warmup_batches"));
        Self { cpus, contexts, batches, warmup, ..Self::default() }
    }

    /// Notes the units of a message that is passed on.
    fn count(&mut self, message: &Value, times: usize) {
        let units = message["units"].as_u64().unwrap_or(0) * times as u64;
        match message["t"].as_str() {
            Some("samples") => {
                let batches = message["ticks"].as_array().map_or(0, Vec::len) as u64;
                self.units += units * batches;
                self.samples += batches * times as u64;
            }
            // A warm-up that is in no histogram counts as well.
            Some("histogram") => self.units += units + units / self.batches.max(1) * self.warmup,
            _ => {}
        }
    }

    fn value(&self, text: &str) -> Result<Value, String> {
        let Some(name) = text.strip_prefix('$') else {
            return serde_json::from_str(text).map_err(|error| format!("{text}: {error}"));
        };
        let (name, factor) = name.split_once('*').unwrap_or((name, "1"));
        if name == "cpus" {
            return Ok(self.cpus.clone().into());
        }
        let number = match name {
            "units" => self.units,
            "contexts" => self.contexts,
            "samples" => self.samples,
            "turns" => self.units / self.contexts.max(1),
            _ => return Err(format!("there is no ${name}")),
        };
        let factor: f64 = factor.parse().map_err(|_| format!("{factor:?} is not a number"))?;
        Ok(((number as f64 * factor).round() as i64).into())
    }
}

/// The first of times that repeat, ns.
const CYCLE_NS: u64 = 1_000_000;

/// An answer that is passed on message by message, edited.
#[derive(Debug)]
pub struct Quote {
    edits: Vec<Edit>,
    pub known: Known,
}

impl Quote {
    pub fn new(edits: &[String], known: Known) -> Result<Self, String> {
        Ok(Self { edits: edits.iter().map(|text| text.parse()).collect::<Result<_, _>>()?, known })
    }

    /// Changes a message; returns how often it is sent.
    pub fn change(&mut self, message: &mut Value) -> Result<usize, String> {
        let mut times = 1;
        for edit in &mut self.edits {
            times = edit.apply(message, times, &self.known)?;
        }
        self.known.count(message, times);
        Ok(times)
    }

    /// After the last message: an edit that found nothing to change is a mistake of the list.
    pub fn finish(self) -> Result<(), String> {
        match self.edits.iter().find(|edit| !edit.applied) {
            Some(edit) => Err(format!("the edit {edit} found nothing to change")),
            None => Ok(()),
        }
    }
}

/// One edit.
#[derive(Debug)]
struct Edit {
    text: String,
    kind: String,
    phase: Option<String>,
    path: Vec<String>,
    operation: String,
    value: String,
    applied: bool,
}

impl FromStr for Edit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.splitn(3, ' ');
        let (path, operation) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut path = path.split('.').map(str::to_owned);
        let first = path.next().unwrap_or_default();
        let (kind, phase) = match first.strip_suffix(']').and_then(|first| first.split_once('[')) {
            Some((kind, phase)) => (kind.to_owned(), Some(phase.to_owned())),
            None => (first, None),
        };
        if !["=", "*=", "+=", "fill", "cycle", "like", "delete", "twice", "scale"].contains(&operation) {
            return Err(format!("unknown operation {operation:?} in {text:?}"));
        }
        let (path, operation, value) =
            (path.collect(), operation.to_owned(), words.next().unwrap_or_default().to_owned());
        Ok(Self { text: text.to_owned(), kind, phase, path, operation, value, applied: false })
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Edit {
    /// Changes a message if it is meant; returns how often that message is sent.
    fn apply(&mut self, message: &mut Value, times: usize, known: &Known) -> Result<usize, String> {
        if message["t"] != self.kind || self.phase.as_ref().is_some_and(|phase| message["phase"] != **phase) {
            return Ok(times);
        }
        let Some((last, parents)) = self.path.split_last() else {
            self.applied = true;
            match self.operation.as_str() {
                "twice" => return Ok(2),
                "scale" => scale(message, known.value(&self.value)?.as_f64().unwrap_or(1.0)),
                _ => return Ok(0),
            }
            return Ok(times);
        };
        let phase = if message["phase"] == "warmup" { known.warmup } else { known.batches };
        let copy = at(message, self.value.split('.')).cloned();
        let Some(parent) = parents.iter().try_fold(message, |value, name| step(value, name, self.operation == "="))
        else {
            return Ok(times);
        };
        if self.operation == "delete" {
            self.applied |= match parent {
                Value::Object(fields) => fields.remove(last).is_some(),
                Value::Array(items) => last.parse().is_ok_and(|index: usize| {
                    index < items.len() && {
                        items.remove(index);
                        true
                    }
                }),
                _ => false,
            };
            return Ok(times);
        }
        let Some(target) = step(parent, last, self.operation == "=") else { return Ok(times) };
        self.applied = true;
        match self.operation.as_str() {
            "=" => *target = known.value(&self.value)?,
            "fill" => *target = Value::Array(vec![known.value(&self.value)?; phase as usize]),
            "cycle" => {
                let period = known.value(&self.value)?.as_f64().map_or(1, |period| (period as u64).max(1));
                *target = (0..phase).map(|batch| CYCLE_NS + batch % period).collect();
            }
            "like" => *target = copy.ok_or_else(|| format!("{}: no such field", self.text))?,
            operation => {
                let by = match known.value(&self.value)? {
                    Value::Number(number) => number.as_f64().unwrap_or(1.0),
                    _ => return Err(format!("{}: no number", self.text)),
                };
                change(target, &|old| if operation == "*=" { old * by } else { old + by });
            }
        }
        Ok(times)
    }
}

fn step<'a>(value: &'a mut Value, name: &str, make: bool) -> Option<&'a mut Value> {
    if let Value::Array(items) = value {
        return items.get_mut(name.parse::<usize>().ok()?);
    }
    if make && value.is_null() {
        *value = Value::Object(serde_json::Map::new());
    }
    let fields = value.as_object_mut()?;
    if make { Some(fields.entry(name).or_insert(Value::Null)) } else { fields.get_mut(name) }
}

fn at<'a>(message: &'a Value, path: impl Iterator<Item = &'a str>) -> Option<&'a Value> {
    path.into_iter().try_fold(message, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => value.get(name),
    })
}

/// Changes every number, however deep.
fn change(value: &mut Value, by: &dyn Fn(f64) -> f64) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| change(item, by)),
        Value::Object(fields) => fields.values_mut().for_each(|field| change(field, by)),
        _ => {
            if let Some(old) = value.as_f64() {
                *value = (by(old).round() as i64).into();
            }
        }
    }
}

/// All intervals of a histogram so many times as long, in buckets that fit them.
fn scale(histogram: &mut Value, by: f64) {
    let scaled = |value: u64| (value as f64 * by) as u64;
    let bits = histogram["bits"].as_u64().unwrap_or(0);
    let width = |value: u64| if value >> bits == 0 { 1 } else { 1_u64 << (u64::from(value.ilog2()) - bits) };
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for bucket in histogram["buckets"].as_array().into_iter().flatten() {
        let (lower, count) = (scaled(bucket[0].as_u64().unwrap_or(0)), bucket[1].as_u64().unwrap_or(0));
        *buckets.entry(lower / width(lower) * width(lower)).or_default() += count;
    }
    let (Some((&first, _)), Some((&last, _))) = (buckets.first_key_value(), buckets.last_key_value()) else { return };
    let inside = |value: &Value, lower: u64| scaled(value.as_u64().unwrap_or(0)).clamp(lower, lower + width(lower) - 1);
    let ends = [inside(&histogram["min"], first), inside(&histogram["max"], last)];
    let sum = |of: fn(u64, u64) -> u64| buckets.iter().map(|(&lower, &count)| of(lower, width(lower)) * count).sum();
    let (least, most): (u64, u64) = (sum(|lower, _| lower), sum(|lower, width| lower + width - 1));
    let total = scaled(histogram["sum"].as_u64().unwrap_or(0)).clamp(least, most);
    histogram["min"] = ends[0].into();
    histogram["max"] = ends[1].into();
    histogram["sum"] = total.into();
    histogram["buckets"] = buckets.into_iter().map(|(lower, count)| vec![lower, count]).collect();
}
