//! Clocks.

use super::Facts;
use crate::os::host::{Host, unknown};

const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0";

pub(super) fn gather(host: &Host, facts: &mut Facts) {
    facts.put("clock.source", host.fact(&format!("{SOURCE}/current_clocksource")));
    facts.put("clock.available", host.fact(&format!("{SOURCE}/available_clocksource")));
    facts.put("clock.tsc_flags", tsc_flags(host));
    facts.put("clock.tsc_hz", tsc_hz(host).unwrap_or_else(unknown));
}

/// What the kernel vouches for.
fn tsc_flags(host: &Host) -> String {
    let info = host.cpuinfo();
    let Some(flags) = info.get("flags") else { return unknown("/proc/cpuinfo has no line `flags`") };
    let has = |wanted: &&str| flags.split(' ').any(|flag| flag == *wanted);
    let there: Vec<&str> =
        ["tsc", "constant_tsc", "nonstop_tsc", "tsc_known_freq", "tsc_reliable"].into_iter().filter(has).collect();
    if there.is_empty() { "none".to_owned() } else { there.join(" ") }
}

/// The frequency as the hardware or the hypervisor declares it. A measured one would differ in the
/// last digits from boot to boot; it is among the drifting facts.
fn tsc_hz(host: &Host) -> Result<String, &'static str> {
    if let Some([khz, ..]) = host.cpuid(0x4000_0010)
        && khz != 0
    {
        return Ok(format!("{} (cpuid 0x40000010)", u64::from(khz) * 1000));
    }
    if let Some([below, above, crystal, _]) = host.cpuid(0x15)
        && below != 0
        && above != 0
        && crystal != 0
    {
        return Ok(format!("{} (cpuid 0x15)", u64::from(crystal) * u64::from(above) / u64::from(below)));
    }
    if let Some([mhz, ..]) = host.cpuid(0x16)
        && mhz & 0xffff != 0
    {
        return Ok(format!("about {} (cpuid 0x16, base frequency)", u64::from(mhz & 0xffff) * 1_000_000));
    }
    Err("cpuid does not declare it (leaves 0x40000010, 0x15, 0x16)")
}
