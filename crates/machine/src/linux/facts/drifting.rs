//! Facts that change from minute to minute, and facts that no file holds.

use super::Facts;
use crate::os::doctor::sizes::core_mhz;
use crate::os::host::{Host, unknown};
use crate::os::sys;
use rustix::time::{ClockId, clock_getres};
use std::time::{Duration, Instant};
use switchcost_model::MHZ_MEASURED;

/// What only the running system says.
pub(crate) struct Live {
    /// Bytes.
    pub page_size: usize,
    /// Scheduler ticks in a second.
    pub hz: Option<u64>,
    /// C library of the host.
    pub libc: String,
    /// Memory that was written may be executed.
    pub executable: bool,
    /// Measured ticks of the time stamp counter in a second.
    pub tsc_hz: Option<f64>,
    /// Measured clock of the core that probes run on, MHz.
    pub core_mhz: Option<f64>,
}

impl Live {
    /// Asks the system; takes 10 ms.
    pub(crate) fn now() -> Self {
        Self {
            page_size: rustix::param::page_size(),
            hz: hz(),
            libc: sys::libc_version(),
            executable: sys::may_execute_what_it_wrote(),
            tsc_hz: tsc_hz(),
            core_mhz: core_mhz(),
        }
    }
}

/// The coarse clock advances once a tick and says so.
fn hz() -> Option<u64> {
    let step = clock_getres(ClockId::MonotonicCoarse);
    let ns = u64::try_from(step.tv_nsec).ok().filter(|&ns| ns > 0 && step.tv_sec == 0)?;
    Some((1_000_000_000 + ns / 2) / ns)
}

/// Not worth more than four digits over such a short time.
fn tsc_hz() -> Option<f64> {
    let (began, first) = (Instant::now(), sys::tsc()?);
    std::thread::sleep(Duration::from_millis(10));
    let (ticks, time) = (sys::tsc()?.wrapping_sub(first), began.elapsed());
    Some(ticks as f64 / time.as_secs_f64())
}

pub(super) fn gather(host: &Host, live: &Live, facts: &mut Facts) {
    facts.put("memory.total", memory(host, "MemTotal:"));
    let mhz = host.cpuinfo().remove("cpu MHz");
    facts.put("frequency_mhz_declared", mhz.unwrap_or_else(|| unknown("/proc/cpuinfo has no line `cpu MHz`")));
    let mhz = live.core_mhz.map(|mhz| format!("{mhz:.0}"));
    facts.put(MHZ_MEASURED, mhz.unwrap_or_else(|| unknown("no instruction's cycles are known of this kind of CPU")));
    let tsc = live.tsc_hz.map(|hz| format!("{:.1}", hz / 1e6));
    facts.put("clock.tsc_mhz_measured", tsc.unwrap_or_else(|| unknown("there is no time stamp counter")));
}

fn memory(host: &Host, name: &str) -> String {
    match host.read("/proc/meminfo") {
        Ok(text) => {
            let value = text.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned());
            value.unwrap_or_else(|| unknown(format!("/proc/meminfo has no line `{name}`")))
        }
        Err(reason) => unknown(reason),
    }
}
