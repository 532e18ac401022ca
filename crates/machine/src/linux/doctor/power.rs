//! Frequency.

use super::Subject;
use crate::os::facts;
use switchcost_model::Severity::{Fine, Note, Warning};
use switchcost_model::{CoreClock, Finding, finding};

/// A core that runs below this share of its highest clock while it works is slow.
const SLOW: f64 = 0.8;

/// A limit below this share of the highest clock is one that somebody set.
const LIMITED: f64 = 0.95;

/// Judged by the clock that a working core kept, not by a governor's name: under intel_pstate or
/// amd-pstate `powersave` runs at full speed, and `performance` may be capped. Clocks of idle CPUs
/// say nothing.
pub(super) fn governor(subject: &Subject<'_>) -> Finding {
    if facts::frequency_is_fixed_by_host(subject.host) {
        return finding!(Note, governor.hidden);
    }
    let governor = subject.host.each_cpu("cpufreq/scaling_governor").join(", ");
    let ghz = |file: &str, most: fn(f64, f64) -> f64| {
        let all = subject.host.each_cpu(file);
        all.iter().filter_map(|text| text.parse::<f64>().ok()).reduce(most).map(|khz| khz / 1e6)
    };
    let highest = ghz("cpufreq/cpuinfo_max_freq", f64::max);
    let limit = ghz("cpufreq/scaling_max_freq", f64::min);
    if let Some((limit, highest)) = limit.zip(highest)
        && limit < LIMITED * highest
    {
        let (times, limit) = (format!("{:.1}", highest / limit), format!("{limit:.2}"));
        return finding!(Warning, governor.limited, governor, limit, highest = format!("{highest:.2}"), times);
    }
    match (subject.sizes.core_mhz.map(|mhz| mhz / 1e3), highest) {
        (Some(kept), Some(highest)) => {
            let (times, slow) = (format!("{:.1}", highest / kept), kept < SLOW * highest);
            let (kept, highest) = (format!("{kept:.2}"), format!("{highest:.2}"));
            if slow {
                return finding!(Warning, governor.slow, governor, kept, highest, times);
            }
            finding!(Fine, governor.fast, governor, kept, highest)
        }
        _ => finding!(Note, governor.unmeasured, governor),
    }
}

pub(super) fn turbo(subject: &Subject<'_>) -> Finding {
    match facts::turbo(subject.host) {
        Ok(true) => finding!(Note, turbo.on),
        Ok(false) => finding!(Fine, turbo.off),
        Err(_) => finding!(Fine, turbo.unknown),
    }
}

/// At which clock the core runs, beside the highest that is declared or known of it.
pub(super) fn core_clock(subject: &Subject<'_>) -> Finding {
    let Some(mhz) = subject.sizes.core_mhz else {
        return finding!(Fine, core_clock.unmeasured);
    };
    let declared = subject.host.cpuinfo().get("cpu MHz").and_then(|mhz| mhz.parse::<f64>().ok());
    let known = CoreClock {
        kept: mhz / 1e3,
        declared: declared.map(|mhz| mhz / 1e3),
        stored: subject.sizes.stored_mhz.map(|mhz| mhz / 1e3),
    };
    let clock = format!("{:.2}", known.kept);
    let Some(short) = known.shortfall() else {
        let Some(declared) = known.declared else { return finding!(Fine, core_clock.alone, clock) };
        return finding!(Fine, core_clock.declared, clock, declared = format!("{declared:.2}"));
    };
    let (higher, times) = (format!("{:.2}", short.of), format!("{:.1}", short.times));
    if short.stored {
        return finding!(Warning, core_clock.below_stored, clock, higher, times);
    }
    finding!(Warning, core_clock.below_declared, clock, higher, times)
}
