//! Frequency.

use super::Subject;
use crate::os::facts;
use switchcost_model::Severity::{Fine, Note, Warning};
use switchcost_model::{CoreClock, Finding, finding};

pub(super) fn governor(subject: &Subject<'_>) -> Finding {
    if facts::frequency_is_fixed_by_host(subject.host) {
        return finding!(Note, governor.hidden);
    }
    let governors = subject.host.each_cpu("cpufreq/scaling_governor");
    let khz = |file: &str| {
        let all = subject.host.each_cpu(file);
        let all: Vec<f64> = all.iter().filter_map(|text| text.parse().ok()).collect();
        (all.iter().copied().fold(f64::NAN, f64::min), all.iter().copied().fold(f64::NAN, f64::max))
    };
    let (slowest, _) = khz("cpufreq/scaling_cur_freq");
    let (_, highest) = khz("cpufreq/cpuinfo_max_freq");
    let seen = slowest / highest * 100.0;
    let (governor, share, times) = (governors.join(", "), format!("{seen:.0} %"), format!("{:.1}", 100.0 / seen));
    match (governors.iter().all(|governor| governor == "performance"), seen.is_finite()) {
        (true, true) => finding!(Fine, governor.fast, governor, share),
        (true, false) => finding!(Fine, governor.fast_unseen, governor),
        (false, true) => finding!(Warning, governor.slow, governor, share, times),
        (false, false) => finding!(Warning, governor.slow_unseen, governor),
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
