//! Headers of messages as they travel, and what must hold of the rest, whose types are the model's. Unknown fields are ignored (PROTOCOL.md, section 6).

use serde::Deserialize;
use switchcost_model as model;

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

fn check_reason(code: &str, field: &str, sentence: &str) -> Result<(), String> {
    if !END_CODES.contains(&code) {
        return Err(format!("unknown code `{}`; expected one of {}", model::harmless(code), END_CODES.join(", ")));
    }
    if sentence.trim().is_empty() { Err(format!("`{field}` is empty: it must say why")) } else { Ok(()) }
}

impl Hello {
    pub fn into_model(self) -> Result<model::Hello, String> {
        if self.clock.ticks_per_second == 0 {
            return Err("clock.ticks_per_second is 0".into());
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
    pub fn into_model(self) -> Result<model::Described, String> {
        let unavailable = if self.available {
            None
        } else {
            let code = self.code.ok_or("an unavailable mechanism needs a `code`")?;
            let reason = self.reason.ok_or("an unavailable mechanism needs a `reason`")?;
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
pub fn check_plan(plan: &model::PlanEcho) -> Result<(), String> {
    if plan.batch_units == 0 { Err("batch_units is 0: the probe did not calibrate".into()) } else { Ok(()) }
}

/// Rulers beside a batch, at most.
const MOST_RULERS: usize = 8;

/// Samples that a clock can give.
pub fn check_samples(samples: &model::Samples) -> Result<(), String> {
    if samples.ticks.len() > 4096 {
        return Err("more than 4096 ticks in one message".into());
    }
    if samples.units == 0 {
        return Err("units is 0".into());
    }
    if samples.quantity.is_none() && samples.ticks.iter().any(|&ticks| ticks < 0) {
        return Err("a batch of negative duration: the clock is not monotonic".into());
    }
    if samples.rulers.len() > MOST_RULERS {
        return Err(format!("more than {MOST_RULERS} rulers"));
    }
    for (name, ticks) in &samples.rulers {
        if ticks.len() != samples.ticks.len() {
            return Err(format!("ruler {name} has {} ticks where {} batches are", ticks.len(), samples.ticks.len()));
        }
        if ticks.iter().any(|&ticks| ticks < 0) {
            return Err(format!("ruler {name} took less than nothing"));
        }
    }
    Ok(())
}

/// Buckets that make a histogram.
pub fn check_histogram(histogram: &model::Histogram) -> Result<(), String> {
    if !histogram.buckets.is_sorted_by(|a, b| a.0 < b.0) {
        return Err("buckets are not in ascending order".into());
    }
    if histogram.buckets.iter().any(|&(_, count)| count == 0) {
        return Err("a bucket counts 0".into());
    }
    if histogram.bits > 32 {
        return Err("bits is above 32".into());
    }
    Ok(())
}

/// An end that says why, unless all is well.
pub fn check_end(end: &model::End) -> Result<(), String> {
    if end.status == model::EndStatus::Ok {
        return Ok(());
    }
    let (Some(code), Some(detail)) = (&end.code, &end.detail) else {
        return Err(format!("end with status {} needs `code` and `detail`", end.status));
    };
    check_reason(code, "detail", detail)
}
