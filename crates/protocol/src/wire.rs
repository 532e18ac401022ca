//! Headers of messages as they travel, and what must hold of the rest, whose types are the model's.
//! Unknown fields are ignored (PROTOCOL.md, section 6).

use serde::Deserialize;
use switchcost_model as model;
use switchcost_model::Broken;

#[derive(Deserialize)]
pub struct Hello {
    pub protocol: u64,
    probe: String,
    version: String,
    runtime: String,
    #[serde(default)]
    compiler: Option<String>,
    #[serde(default)]
    flags: Option<String>,
    pid: u64,
    clock: model::Clock,
    #[serde(default)]
    counter: Option<Counter>,
    #[serde(default)]
    chain_cycles: Option<u64>,
}

#[derive(Deserialize)]
pub struct Counter {
    name: String,
}

#[derive(Deserialize)]
pub struct Mechanism {
    id: model::MechanismId,
    experiments: Vec<model::Experiment>,
    timings: Vec<model::Timing>,
    #[serde(default)]
    parameters: Vec<String>,
    available: bool,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    install: Option<String>,
}

#[derive(Deserialize)]
pub struct Note {
    pub text: String,
}

/// Words for `code`: why a mechanism cannot run, or did not (PROTOCOL.md, section 2).
pub const END_CODES: [&str; 13] = [
    "unknown_key",
    "bad_value",
    "unknown_mechanism",
    "unsupported_here",
    "missing_library",
    "missing_device",
    "missing_syscall",
    "no_permission",
    "too_few_cpus",
    "limit_reached",
    "set_up_failed",
    "partner_died",
    "self_check_failed",
];

pub fn at_most(what: &str, count: u64, most: u64) -> Result<(), Broken> {
    if count > most { Err(Broken::TooMany { what: what.into(), most }) } else { Ok(()) }
}

fn check_reason(code: &str, field: &str, sentence: &str) -> Result<(), Broken> {
    if !END_CODES.contains(&code) {
        let known = END_CODES.map(str::to_owned).to_vec();
        return Err(Broken::UnknownCode { word: model::harmless(code), known });
    }
    if sentence.trim().is_empty() { Err(Broken::NoWhy { field: field.into() }) } else { Ok(()) }
}

impl Hello {
    pub fn into_model(self) -> Result<model::Hello, Broken> {
        if self.clock.ticks_per_second == 0 {
            return Err(Broken::StoppedClock);
        }
        Ok(model::Hello {
            protocol: self.protocol,
            probe: self.probe,
            version: self.version,
            runtime: self.runtime,
            compiler: self.compiler,
            flags: self.flags,
            pid: self.pid,
            clock: self.clock,
            counter: self.counter.map(|counter| counter.name),
            chain_cycles: self.chain_cycles.filter(|cycles| *cycles > 0),
        })
    }
}

impl Mechanism {
    pub fn into_model(self) -> Result<model::Described, Broken> {
        let unavailable = if self.available {
            None
        } else {
            let needed = |field: &str| Broken::Unexplained { field: field.into() };
            let code = self.code.ok_or_else(|| needed("code"))?;
            let reason = self.reason.ok_or_else(|| needed("reason"))?;
            check_reason(&code, "reason", &reason)?;
            Some(model::Unavailable { code, reason, install: self.install })
        };
        Ok(model::Described {
            id: self.id,
            experiments: self.experiments,
            timings: self.timings,
            parameters: self.parameters,
            unavailable,
        })
    }
}

/// A plan that was calibrated.
pub fn check_plan(plan: &model::PlanEcho) -> Result<(), Broken> {
    if plan.batch_units == 0 { Err(Broken::NotCalibrated) } else { Ok(()) }
}

/// Ticks of one message, at most.
const MOST_TICKS: u64 = 4096;

/// Rulers beside a batch, at most.
const MOST_RULERS: u64 = 8;

/// Bits of a histogram, at most.
const MOST_BITS: u32 = 32;

/// Samples that a clock can give.
pub fn check_samples(samples: &model::Samples) -> Result<(), Broken> {
    at_most("ticks in one message", samples.ticks.len() as u64, MOST_TICKS)?;
    if samples.units == 0 {
        return Err(Broken::NoUnits);
    }
    if samples.quantity.is_none() && samples.ticks.iter().any(|&ticks| ticks < 0) {
        return Err(Broken::NegativeBatch);
    }
    at_most("rulers", samples.rulers.len() as u64, MOST_RULERS)?;
    for (name, ticks) in &samples.rulers {
        if ticks.len() != samples.ticks.len() {
            let (ruler, batches) = (name.clone(), samples.ticks.len() as u64);
            return Err(Broken::OtherRuler { ruler, ticks: ticks.len() as u64, batches });
        }
        if ticks.iter().any(|&ticks| ticks < 0) {
            return Err(Broken::NegativeRuler { ruler: name.clone() });
        }
    }
    Ok(())
}

/// Buckets that make a histogram.
pub fn check_histogram(histogram: &model::Histogram) -> Result<(), Broken> {
    if !histogram.buckets.is_sorted_by(|a, b| a.0 < b.0) {
        return Err(Broken::BucketsMixed);
    }
    if histogram.buckets.iter().any(|&(_, count)| count == 0) {
        return Err(Broken::EmptyBucket);
    }
    if histogram.bits > MOST_BITS {
        return Err(Broken::TooManyBits { most: MOST_BITS.into() });
    }
    Ok(())
}

/// An end that says why, unless all is well.
pub fn check_end(end: &model::End) -> Result<(), Broken> {
    if end.status == model::EndStatus::Ok {
        return Ok(());
    }
    let (Some(code), Some(detail)) = (&end.code, &end.detail) else {
        return Err(Broken::EndUnexplained { status: end.status.to_string() });
    };
    check_reason(code, "detail", detail)
}
