//! Message types exactly as they travel, and their conversion to the model. Unknown fields are ignored (PROTOCOL.md, section 6).

use serde::Deserialize;
use std::collections::BTreeMap;
use std::str::FromStr;
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
    clock: Clock,
    #[serde(default)]
    counter: Option<Counter>,
}

#[derive(Deserialize)]
pub struct Clock {
    name: String,
    ticks_per_second: u64,
    read_cost_ticks: u64,
}

#[derive(Deserialize)]
pub struct Counter {
    name: String,
}

#[derive(Deserialize)]
pub struct Mechanism {
    id: String,
    experiments: Vec<String>,
    timings: Vec<String>,
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
pub struct Plan {
    mechanism: String,
    experiment: String,
    contexts: u64,
    timing: String,
    cpus: Vec<u32>,
    batch_units: u64,
    batches: u64,
    warmup_batches: u64,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub struct Samples {
    pub seq: u64,
    phase: String,
    units: u64,
    ticks: Vec<i64>,
    #[serde(default)]
    quantity: Option<String>,
}

#[derive(Deserialize)]
pub struct Histogram {
    pub seq: u64,
    phase: String,
    units: u64,
    bits: u32,
    buckets: Vec<(u64, u64)>,
    sum: u64,
    min: u64,
    max: u64,
    pair_sum: u64,
    pair_count: u64,
    span_counter: u64,
    span_clock: u64,
}

#[derive(Deserialize)]
pub struct Turns {
    total: u64,
    min: u64,
    max: u64,
    contexts: u64,
}

#[derive(Deserialize)]
pub struct Kernel {
    voluntary: u64,
    involuntary: u64,
    tasks: u64,
    source: String,
}

#[derive(Deserialize)]
pub struct Hops {
    count: u64,
    in_order: u64,
    same_cpu: u64,
    #[serde(default)]
    same_thread: Option<u64>,
    #[serde(default)]
    timed: bool,
}

#[derive(Deserialize)]
pub struct PageFaults {
    minor: u64,
    major: u64,
}

#[derive(Deserialize)]
pub struct Evidence {
    units: u64,
    #[serde(default)]
    turns: Option<Turns>,
    #[serde(default)]
    token: Option<u64>,
    #[serde(default)]
    kernel: Option<Kernel>,
    #[serde(default)]
    address_spaces: Option<u64>,
    #[serde(default)]
    cpus: Option<Vec<u32>>,
    #[serde(default)]
    migrations: Option<u64>,
    #[serde(default)]
    hops: Option<Hops>,
    #[serde(default)]
    page_faults: Option<PageFaults>,
    #[serde(default)]
    gc_cycles: Option<u64>,
    #[serde(default)]
    counts: BTreeMap<String, i64>,
    #[serde(default)]
    why: BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub struct Note {
    pub text: String,
}

#[derive(Deserialize)]
pub struct End {
    status: String,
    samples: u64,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    detail: Option<String>,
    #[serde(default)]
    errno: Option<i64>,
}

/// Why a mechanism cannot run, or did not: PROTOCOL.md, section 2.
const CODES: &[&str] = &[
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
    if !CODES.contains(&code) {
        return Err(format!("unknown code `{}`; expected one of {}", model::told(code), CODES.join(", ")));
    }
    if sentence.trim().is_empty() { Err(format!("`{field}` is empty: it must say why")) } else { Ok(()) }
}

fn word<T: FromStr<Err = model::IdError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: model::IdError| error.0)
}

fn words<T: FromStr<Err = model::IdError>>(texts: &[String]) -> Result<Vec<T>, String> {
    texts.iter().map(|text| word(text)).collect()
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
            clock: model::Clock {
                name: self.clock.name,
                ticks_per_second: self.clock.ticks_per_second,
                read_cost_ticks: self.clock.read_cost_ticks,
            },
            counter: self.counter.map(|counter| counter.name),
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
            id: word(&self.id)?,
            experiments: words(&self.experiments)?,
            timings: words(&self.timings)?,
            parameters: self.parameters,
            unavailable,
        })
    }
}

impl Plan {
    pub fn into_model(self) -> Result<model::PlanEcho, String> {
        if self.batch_units == 0 {
            return Err("batch_units is 0: the probe did not calibrate".into());
        }
        Ok(model::PlanEcho {
            mechanism: word(&self.mechanism)?,
            experiment: word(&self.experiment)?,
            contexts: self.contexts,
            timing: word(&self.timing)?,
            cpus: self.cpus,
            batch_units: self.batch_units,
            batches: self.batches,
            warmup_batches: self.warmup_batches,
            parameters: self.parameters,
        })
    }
}

impl Samples {
    pub fn into_model(self) -> Result<model::Samples, String> {
        if self.ticks.len() > 4096 {
            return Err("more than 4096 ticks in one message".into());
        }
        if self.units == 0 {
            return Err("units is 0".into());
        }
        if self.quantity.is_none() && self.ticks.iter().any(|&ticks| ticks < 0) {
            return Err("a batch of negative duration: the clock is not monotonic".into());
        }
        Ok(model::Samples { phase: word(&self.phase)?, units: self.units, ticks: self.ticks, quantity: self.quantity })
    }
}

impl Histogram {
    pub fn into_model(self) -> Result<model::Histogram, String> {
        if self.buckets.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err("buckets are not in ascending order".into());
        }
        if self.buckets.iter().any(|&(_, count)| count == 0) {
            return Err("a bucket counts 0".into());
        }
        if self.bits > 32 {
            return Err("bits is above 32".into());
        }
        Ok(model::Histogram {
            phase: word(&self.phase)?,
            units: self.units,
            bits: self.bits,
            buckets: self.buckets,
            sum: self.sum,
            min: self.min,
            max: self.max,
            pair_sum: self.pair_sum,
            pair_count: self.pair_count,
            span_counter: self.span_counter,
            span_clock: self.span_clock,
        })
    }
}

impl Evidence {
    pub fn into_model(self) -> model::Evidence {
        model::Evidence {
            units: self.units,
            turns: self.turns.map(|t| model::Turns { total: t.total, min: t.min, max: t.max, contexts: t.contexts }),
            token: self.token,
            kernel: self.kernel.map(|k| model::KernelSwitches {
                voluntary: k.voluntary,
                involuntary: k.involuntary,
                tasks: k.tasks,
                source: k.source,
            }),
            address_spaces: self.address_spaces,
            cpus: self.cpus,
            migrations: self.migrations,
            hops: self.hops.map(|h| model::Hops {
                count: h.count,
                in_order: h.in_order,
                same_cpu: h.same_cpu,
                same_thread: h.same_thread,
                timed: h.timed,
            }),
            page_faults: self.page_faults.map(|p| model::PageFaults { minor: p.minor, major: p.major }),
            gc_cycles: self.gc_cycles,
            counts: self.counts,
            why: self.why,
        }
    }
}

impl End {
    pub fn into_model(self) -> Result<model::End, String> {
        let status: model::EndStatus = word(&self.status)?;
        if status != model::EndStatus::Ok {
            let (Some(code), Some(detail)) = (&self.code, &self.detail) else {
                return Err(format!("end with status {status} needs `code` and `detail`"));
            };
            check_reason(code, "detail", detail)?;
        }
        Ok(model::End { status, code: self.code, detail: self.detail, errno: self.errno, samples: self.samples })
    }
}
