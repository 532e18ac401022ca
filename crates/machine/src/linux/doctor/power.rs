//! Frequency.

use super::{Answer, Subject};
use crate::os::facts;
use switchcost_model::CoreClock;

pub(super) fn governor(subject: &Subject<'_>) -> Answer {
    if facts::frequency_is_fixed_by_host(subject.host) {
        return Answer::note(
            "the CPU frequency is not visible to this kernel (no cpufreq)",
            "it may vary unnoticed, by the hypervisor or the firmware",
            "on your own hardware, enable cpufreq; in a virtual machine nothing can be done",
        );
    }
    let governors = subject.host.each_cpu("cpufreq/scaling_governor");
    let khz = |file: &str| {
        let all = subject.host.each_cpu(file);
        let all: Vec<f64> = all.iter().filter_map(|text| text.parse().ok()).collect();
        (all.iter().copied().fold(f64::NAN, f64::min), all.iter().copied().fold(f64::NAN, f64::max))
    };
    let (slowest, _) = khz("cpufreq/scaling_cur_freq");
    let (_, highest) = khz("cpufreq/cpuinfo_max_freq");
    let share = slowest / highest * 100.0;
    let now =
        if share.is_finite() { format!(", the slowest at {share:.0} % of its maximum now") } else { String::new() };
    let what = format!("frequency governor {}{now}", governors.join(", "));
    if governors.iter().all(|governor| governor == "performance") {
        return Answer::fine(what);
    }
    let effect = if share.is_finite() {
        format!(
            "a switch takes up to {:.1} times as long while the CPU is slow, and speeds up while it is measured",
            100.0 / share
        )
    } else {
        "a switch takes longer while the CPU is slow, and speeds up while it is measured".to_owned()
    };
    Answer::warning(what, effect, "sudo cpupower frequency-set -g performance, for the time of the run")
}

pub(super) fn turbo(subject: &Subject<'_>) -> Answer {
    match facts::turbo(subject.host) {
        Ok(true) => Answer::note(
            "turbo is on",
            "the frequency depends on heat and on how many cores are busy, typically by 10 to 40 %",
            "for steady numbers turn it off for the run: echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo, \
             or echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
        ),
        Ok(false) => Answer::fine("turbo is off"),
        Err(_) => {
            Answer::fine("whether turbo is on cannot be read here; the probes' own samples show a changing frequency")
        }
    }
}

/// At which clock the core runs, beside the highest that is declared or known of it.
pub(super) fn core_clock(subject: &Subject<'_>) -> Answer {
    let Some(mhz) = subject.sizes.core_mhz else {
        return Answer::fine(
            "the core's own clock is not measured on this kind of CPU; the probes' rulers show changes of it",
        );
    };
    let declared = subject.host.cpuinfo().get("cpu MHz").and_then(|mhz| mhz.parse::<f64>().ok());
    let clock = CoreClock {
        kept: mhz / 1e3,
        declared: declared.map(|mhz| mhz / 1e3),
        stored: subject.sizes.stored_mhz.map(|mhz| mhz / 1e3),
    };
    let what = format!("the core runs at {:.2} GHz", clock.kept);
    let Some(short) = clock.shortfall() else {
        let declared = clock.declared.map_or(String::new(), |ghz| format!(", {ghz:.2} declared"));
        return Answer::fine(what + &declared);
    };
    Answer::warning(
        format!("{what}, {:.2} {}", short.of, short.source()),
        format!("figures are up to {:.1} times as high as at the higher clock", short.times),
        "measure when the machine is cool and idle, and compare runs at one clock only",
    )
}
