//! Which probes are here and what they implement.

use crate::invoke::{Reading, read_until_end, start};
use std::time::{Duration, Instant};
use switchcost_model::{Described, Hello, MechanismId, ProbeInfo};
use switchcost_protocol::{DescribeReader, describe_arguments};

/// A probe and its answer to `describe`.
#[derive(Debug, Clone)]
pub struct KnownProbe {
    /// As described in its `probe.toml`.
    pub info: ProbeInfo,
    /// Introduction and list, or why there is none.
    pub answer: Result<(Hello, Vec<Described>), String>,
}

impl KnownProbe {
    /// What the probe says of a mechanism.
    #[must_use]
    pub fn describes(&self, id: &MechanismId) -> Option<&Described> {
        let (_, mechanisms) = self.answer.as_ref().ok()?;
        mechanisms.iter().find(|described| described.id == *id)
    }
}

/// Asks all probes at once; slow runtimes start side by side.
#[must_use]
pub fn discover(probes: Vec<ProbeInfo>) -> Vec<KnownProbe> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = probes
            .into_iter()
            .map(|info| {
                scope.spawn(move || {
                    let answer = describe(&info);
                    KnownProbe { info, answer }
                })
            })
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

fn describe(info: &ProbeInfo) -> Result<(Hello, Vec<Described>), String> {
    let child = start(info, describe_arguments, None, 0)?;
    let deadline = Instant::now() + Duration::from_millis(info.start_timeout_ms);
    let mut reader = DescribeReader::default();
    let mut push = |bytes: &[u8]| -> Result<bool, String> {
        reader.push(bytes).map_err(|fault| fault.to_string())?;
        Ok(reader.ended())
    };
    let (reading, log) = read_until_end(&child, deadline, None, &mut push);
    let _ = child.finish(); // How it ended matters less than what it said.
    let last_words = log.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned();
    match reading {
        Reading::Ended => reader.finish(),
        Reading::Closed => reader.finish().map_err(|what| if last_words.is_empty() { what } else { last_words }),
        Reading::Deadline => Err(format!("no answer to `describe` within {} ms", info.start_timeout_ms)),
        Reading::Fault(what) => Err(what),
        Reading::Interrupted => Err("interrupted".into()),
    }
}
