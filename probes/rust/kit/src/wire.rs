//! The messages of PROTOCOL.md, section 2. Each is one line, written in one system call.

use crate::clock::{clock_read_cost, CLOCK_NAME, COUNTER_NAME, TICKS_PER_SECOND};
use crate::evidence::{Hops, Kernel, PageFaults};
use crate::histogram::{Histogram, BITS};
use crate::mechanism::{Claim, Mechanism};
use crate::os;
use crate::plan::Plan;
use crate::refusal::Refusal;
use crate::ruler::{Ruler, Rulers, CHAIN_CYCLES};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};

/// Samples of a message: the line stays below 65 536 bytes even if every number had 20 digits.
const SAMPLES: usize = 700;

#[derive(Serialize)]
#[serde(tag = "t", rename_all = "lowercase")]
enum Message<'a> {
    Hello {
        protocol: u32,
        pid: u32,
        clock: Clock,
        counter: Option<Counter>,
        #[serde(skip_serializing_if = "Option::is_none")]
        chain_cycles: Option<usize>,
        #[serde(flatten)]
        build: Build,
    },
    Mechanism {
        id: &'a str,
        experiments: &'a [&'a str],
        timings: &'a [&'a str],
        parameters: Vec<&'a str>,
        available: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    },
    Plan {
        batch_units: u64,
        #[serde(flatten)]
        plan: &'a Plan,
    },
    Samples {
        seq: u64,
        phase: &'a str,
        units: u64,
        ticks: &'a [i64],
        #[serde(skip_serializing_if = "Option::is_none")]
        quantity: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        rulers: Option<Rulers<'a>>,
    },
    Histogram {
        seq: u64,
        phase: &'a str,
        bits: u32,
        buckets: &'a [(u64, u64)],
        #[serde(flatten)]
        histogram: &'a Histogram,
    },
    Evidence(Evidence),
    Note {
        text: &'a str,
    },
    End {
        status: &'a str,
        samples: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<&'a str>,
    },
}

#[derive(Serialize)]
struct Clock {
    name: &'static str,
    ticks_per_second: u64,
    read_cost_ticks: u64,
}

#[derive(Serialize)]
struct Counter {
    name: &'static str,
}

/// What a claim is held against. The default is that of experiment footprint, which has none of it.
#[derive(Serialize, Default)]
pub(crate) struct Observations {
    pub(crate) kernel: Option<Kernel>,
    pub(crate) cpus: BTreeSet<u32>,
    pub(crate) migrations: Option<u64>,
    pub(crate) hops: Option<Hops>,
    pub(crate) page_faults: Option<PageFaults>,
}

#[derive(Serialize)]
struct Evidence {
    units: u64,
    #[serde(flatten)]
    claim: Claim,
    #[serde(flatten)]
    observations: Observations,
}

/// What the probe was built with.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Build {
    /// Id of the probe.
    pub probe: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Libraries that switch.
    pub runtime: &'static str,
    /// Compiler and version.
    pub compiler: &'static str,
    /// Flags.
    pub flags: &'static str,
}

/// Writes messages to the host.
#[derive(Debug)]
pub struct Writer {
    file: File,
    seq: u64,
}

impl Writer {
    /// Writes to an inherited descriptor.
    ///
    /// # Safety
    /// Nothing else in the process may own `fd`.
    #[must_use]
    pub unsafe fn from_inherited(fd: i32) -> Self {
        // SAFETY: passed on to the caller.
        let file = unsafe { os::inherited(fd) };
        Self { file, seq: 0 }
    }

    /// Introduces the probe.
    pub fn hello(&mut self, build: Build) -> io::Result<()> {
        let clock = Clock { name: CLOCK_NAME, ticks_per_second: TICKS_PER_SECOND, read_cost_ticks: clock_read_cost() };
        let counter = COUNTER_NAME.map(|name| Counter { name });
        let pid = std::process::id();
        self.send(&Message::Hello { protocol: 1, pid, clock, counter, chain_cycles: CHAIN_CYCLES, build })
    }

    /// Answers `describe`.
    pub fn mechanisms(&mut self, list: &[Mechanism]) -> io::Result<()> {
        for mechanism in list {
            let Mechanism { id, experiments, timings, .. } = mechanism;
            let unavailable = (mechanism.unavailable)();
            self.send(&Message::Mechanism {
                id,
                experiments,
                // Without a counter only batches are left.
                timings: if COUNTER_NAME.is_some() { timings } else { &["batch"] },
                parameters: mechanism.parameters.iter().map(|p| p.name).collect(),
                available: unavailable.is_none(),
                code: unavailable.as_ref().map(|refusal| refusal.code),
                reason: unavailable.as_ref().map(|refusal| refusal.detail.as_str()),
            })?;
        }
        Ok(())
    }

    /// Says something that belongs beside the result.
    pub fn note(&mut self, text: &str) -> io::Result<()> {
        self.send(&Message::Note { text })
    }

    /// Says that all went well.
    pub fn end_ok(&mut self, samples: u64) -> io::Result<()> {
        self.send(&Message::End { status: "ok", samples, code: None, detail: None })
    }

    /// Says why nothing came of it.
    pub fn end_refusal(&mut self, refusal: &Refusal) -> io::Result<()> {
        let Refusal { status, code, detail } = refusal;
        self.send(&Message::End { status, samples: 0, code: Some(code), detail: Some(detail) })
    }

    pub(crate) fn plan(&mut self, plan: &Plan, batch_units: u64) -> io::Result<()> {
        self.send(&Message::Plan { batch_units, plan })
    }

    /// Ticks of batches, with the rulers beside them.
    pub(crate) fn samples(&mut self, phase: &str, units: u64, ticks: &[i64], rulers: &[Ruler]) -> io::Result<()> {
        let both = ticks.chunks(SAMPLES).zip(rulers.chunks(SAMPLES));
        both.into_iter().try_for_each(|(ticks, rulers)| self.part(phase, units, ticks, None, Some(Rulers(rulers))))
    }

    /// Samples other than times: bytes of experiment footprint, switches of count.
    pub(crate) fn bytes(&mut self, phase: &str, units: u64, bytes: &[i64], quantity: &str) -> io::Result<()> {
        bytes.chunks(SAMPLES).try_for_each(|bytes| self.part(phase, units, bytes, Some(quantity), None))
    }

    fn part(
        &mut self,
        phase: &str,
        units: u64,
        ticks: &[i64],
        quantity: Option<&str>,
        rulers: Option<Rulers>,
    ) -> io::Result<()> {
        self.send(&Message::Samples { seq: self.seq, phase, units, ticks, quantity, rulers })?;
        self.seq += 1;
        Ok(())
    }

    pub(crate) fn histogram(&mut self, phase: &str, histogram: &Histogram) -> io::Result<()> {
        for buckets in histogram.buckets().chunks(1400) {
            self.send(&Message::Histogram { seq: self.seq, phase, bits: BITS, buckets, histogram })?;
            self.seq += 1;
        }
        Ok(())
    }

    pub(crate) fn evidence(&mut self, units: u64, claim: Claim, observations: Observations) -> io::Result<()> {
        self.send(&Message::Evidence(Evidence { units, claim, observations }))
    }

    fn send(&mut self, message: &Message) -> io::Result<()> {
        self.file.write_all(encode(message)?.as_bytes())
    }
}

/// One ASCII line: serde_json leaves other text as it is, and error texts may quote the command
/// line.
fn encode(message: &Message) -> io::Result<String> {
    let json = serde_json::to_string(message)?;
    let mut line = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if c.is_ascii() {
            line.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                line.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    line.push('\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_ascii_and_come_back() {
        let line = encode(&Message::Note { text: "µ <é> 😀" }).unwrap();
        assert!(line.is_ascii() && line.ends_with('\n'));
        let back: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&back["t"], &back["text"]), (&"note".into(), &"µ <é> 😀".into()));
    }

    #[test]
    fn longest_lines_fit() {
        let (ticks, buckets) = (vec![i64::MIN; SAMPLES], vec![(u64::MAX, u64::MAX); 1400]);
        let rulers = vec![Ruler { chain: u64::MAX, width: u64::MAX, calls: Some(u64::MAX) }; SAMPLES];
        let samples = Message::Samples {
            seq: u64::MAX,
            phase: "measure",
            units: u64::MAX,
            ticks: &ticks,
            quantity: Some("resident_bytes"),
            rulers: Some(Rulers(&rulers)),
        };
        assert!(encode(&samples).unwrap().len() < 65_536);
        let max = u64::MAX;
        let mut histogram = Histogram::new();
        (histogram.units, histogram.sum, histogram.max, histogram.pair_sum) = (max, max, max, max);
        (histogram.pair_count, histogram.span_counter, histogram.span_clock) = (max, max, max);
        let message =
            Message::Histogram { seq: max, phase: "measure", bits: BITS, buckets: &buckets, histogram: &histogram };
        assert!(encode(&message).unwrap().len() < 65_536);
    }
}
