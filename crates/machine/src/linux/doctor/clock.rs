//! Clocks.

use super::{Subject, time};
use switchcost_model::Severity::{Fine, Note, Warning};
use switchcost_model::{Finding, finding};

const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// Sources that the C library reads without a system call.
const FAST: [&str; 5] = ["tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "timebase"];

/// A clock that advances in larger steps than this, ns, hides short samples.
const COARSE_NS: f64 = 1000.0;

pub(super) fn source(subject: &Subject<'_>) -> Finding {
    let read = time(subject.sizes.clock_read_ns);
    match subject.host.text(SOURCE) {
        Ok(source) if FAST.contains(&source.as_str()) => finding!(Fine, clock_source.fast, source, read),
        Ok(source) => finding!(Warning, clock_source.slow, source, read),
        Err(cause) => finding!(Note, clock_source.unknown, cause, read),
    }
}

pub(super) fn step(subject: &Subject<'_>) -> Finding {
    let step = time(subject.sizes.clock_step_ns);
    match subject.sizes.clock_step_ns {
        Some(ns) if ns > COARSE_NS => {
            finding!(Warning, clock_step.coarse, step, error = format!("{:.2} %", ns / 1e6 * 100.0))
        }
        Some(_) => finding!(Fine, clock_step.fine, step),
        None => finding!(Warning, clock_step.unknown),
    }
}

pub(super) fn invariant_tsc(subject: &Subject<'_>) -> Finding {
    let info = subject.host.cpuinfo();
    let Some(flags) = info.get("flags") else {
        return finding!(Fine, invariant_tsc.foreign);
    };
    let missing: Vec<&str> = ["constant_tsc", "nonstop_tsc"]
        .into_iter()
        .filter(|wanted| !flags.split(' ').any(|flag| flag == *wanted))
        .collect();
    if missing.is_empty() {
        return finding!(Fine, invariant_tsc.steady);
    }
    finding!(Warning, invariant_tsc.unvouched, missing = missing.join(" and "))
}

pub(super) fn counters(subject: &Subject<'_>) -> Finding {
    let ns = |ns: f64| format!("{ns:.0} ns");
    match subject.sizes.counters {
        None if subject.host.online().len() < 2 => finding!(Fine, counters.single),
        None => finding!(Note, counters.unknown),
        Some(gap) if gap.least == 0.0 => finding!(Fine, counters.agree, most = ns(gap.most)),
        Some(gap) => finding!(Warning, counters.differ, least = format!("{:.0}", gap.least), most = ns(gap.most)),
    }
}
