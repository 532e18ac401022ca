//! Clocks.

use super::{Answer, Subject, about};
use switchcost_model::Quantity;

const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// Sources that the C library reads without a system call.
const FAST: [&str; 5] = ["tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "timebase"];

/// A clock that advances in larger steps than this, ns, hides short samples.
const COARSE_NS: f64 = 1000.0;

pub(super) fn source(subject: &Subject<'_>) -> Answer {
    let read = about(subject.sizes.clock_read_ns);
    match subject.host.read(SOURCE) {
        Ok(source) if FAST.contains(&source.as_str()) => {
            Answer::fine(format!("the clock is {source}; reading it takes {read}"))
        }
        Ok(source) => Answer::warning(
            format!("the kernel's clock is {source}, not the time stamp counter"),
            format!("reading the clock takes {read}; batches bear that once, timing=each does not use it"),
            "see in `dmesg | grep -i tsc` why the counter was given up; boot with tsc=reliable only if it is sound",
        ),
        Err(reason) => Answer::note(
            format!("the clock's source is not known: {reason}"),
            format!("reading the clock takes {read}"),
            "make /sys readable",
        ),
    }
}

pub(super) fn step(subject: &Subject<'_>) -> Answer {
    match subject.sizes.clock_step_ns {
        Some(step) if step > COARSE_NS => Answer::warning(
            format!("the clock advances in steps of {}", Quantity::TIME.amount(step)),
            format!("a batch of 1 ms is known to {:.2} % only", step / 1e6 * 100.0),
            "use longer batches, or another clock source",
        ),
        Some(step) => Answer::fine(format!("the clock advances in steps of at most {}", Quantity::TIME.amount(step))),
        None => Answer::warning(
            "the clock's step could not be estimated",
            "short batches may be inexact",
            "see the clock's read cost in each probe's introduction",
        ),
    }
}

pub(super) fn invariant_tsc(subject: &Subject<'_>) -> Answer {
    let info = subject.host.cpuinfo();
    let Some(flags) = info.get("flags") else {
        return Answer::fine("this CPU's flags do not concern a time stamp counter");
    };
    let missing: Vec<&str> = ["constant_tsc", "nonstop_tsc"]
        .into_iter()
        .filter(|wanted| !flags.split(' ').any(|flag| flag == *wanted))
        .collect();
    if missing.is_empty() {
        return Answer::fine("the time stamp counter is constant and does not stop");
    }
    Answer::warning(
        format!("the time stamp counter is not vouched for: {} missing", missing.join(" and ")),
        "its ticks may change length with the frequency or stop in idle states, by up to the range of frequencies; \
         timing=each counts in them, batches do not",
        "use timing=batch; in a virtual machine expose the flag (QEMU: -cpu host,+invtsc)",
    )
}

pub(super) fn counters(subject: &Subject<'_>) -> Answer {
    match subject.sizes.counters {
        None if subject.host.online().len() < 2 => {
            Answer::fine("there are no two CPUs whose counters could be compared")
        }
        None => Answer::note(
            "the counters of the CPUs could not be compared",
            "timing=each may find intervals between CPUs too short or too long",
            "let threads be started and placed on each CPU, or use timing=batch",
        ),
        Some(gap) if gap.least == 0.0 => {
            Answer::fine(format!("the counters of the CPUs agree within {:.0} ns", gap.most))
        }
        Some(gap) => Answer::warning(
            format!("the counters of the CPUs differ by {:.0} to {:.0} ns", gap.least, gap.most),
            "timing=each finds each interval that ends on another CPU too short or too long by that",
            "use timing=batch for contexts on several CPUs",
        ),
    }
}
