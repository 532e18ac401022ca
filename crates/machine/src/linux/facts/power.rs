//! Frequency and idle states.

use super::{Facts, joined};
use crate::os::host::{Host, unknown};

const CPUS: &str = "/sys/devices/system/cpu";

pub(super) fn gather(host: &Host, facts: &mut Facts) {
    for (fact, file) in [
        ("cpufreq.driver", "scaling_driver"),
        ("cpufreq.governor", "scaling_governor"),
        ("cpufreq.preference", "energy_performance_preference"),
    ] {
        let values = host.each_cpu(&format!("cpufreq/{file}"));
        // Where CPUs are listed, a missing file is knowledge: the kernel has no such setting.
        let none = values.is_empty() && !host.online().is_empty();
        facts.put(
            fact,
            if none { "none".to_owned() } else { joined(&values, "/sys/devices/system/cpu cannot be read") },
        );
    }
    facts.put("cpufreq.turbo", turbo(host).map_or_else(unknown, |on| if on { "on" } else { "off" }.to_owned()));
    facts.put("cpuidle.driver", host.fact(&format!("{CPUS}/cpuidle/current_driver")));
    let governor = host.read(format!("{CPUS}/cpuidle/current_governor"));
    let governor = governor.or_else(|_| host.read(format!("{CPUS}/cpuidle/current_governor_ro")));
    facts.put("cpuidle.governor", governor.unwrap_or_else(unknown));
    facts.put("cpuidle.states", states(host));
    facts.put("cpuidle.dma_latency_us", dma_latency(host));
    facts.put("cpuidle.halt_poll_ns", host.fact("/sys/module/haltpoll/parameters/guest_halt_poll_ns"));
}

/// How late a wake-up from idle may be by the strictest request; 2 000 000 000: there are no
/// requests.
fn dma_latency(host: &Host) -> String {
    let bytes = std::fs::read(host.path("/dev/cpu_dma_latency"));
    let number = |bytes: Vec<u8>| Some(i32::from_ne_bytes(bytes.try_into().ok()?).to_string());
    match bytes {
        Ok(bytes) => number(bytes).unwrap_or_else(|| unknown("it is not four bytes")),
        Err(error) => unknown(crate::os::host::cause(&error)),
    }
}

/// Names and exit latencies of the idle states of a CPU of the fastest kind.
fn states(host: &Host) -> String {
    let dir = format!("{CPUS}/cpu{}/cpuidle", super::cpu::typical(host));
    let state = |name: String| {
        let read = |file: &str| host.read(format!("{dir}/{name}/{file}")).ok();
        Some(format!("{} {} us", read("name")?, read("latency")?))
    };
    let names = host.names(&dir).into_iter().filter(|name| name.starts_with("state"));
    joined(&names.filter_map(state).collect::<Vec<_>>(), "no idle states are listed")
}

/// May the CPU go above its nominal frequency?
pub(crate) fn turbo(host: &Host) -> Result<bool, String> {
    match host.number(&format!("{CPUS}/intel_pstate/no_turbo")) {
        Ok(no_turbo) => Ok(no_turbo == 0),
        Err(_) => host
            .number(&format!("{CPUS}/cpufreq/boost"))
            .map(|boost| boost == 1)
            .map_err(|_| "neither intel_pstate/no_turbo nor cpufreq/boost can be read".to_owned()),
    }
}

/// No cpufreq: whoever is below decides.
pub(crate) fn frequency_is_fixed_by_host(host: &Host) -> bool {
    host.each_cpu("cpufreq/scaling_governor").is_empty()
}
