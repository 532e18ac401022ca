//! Who else uses the CPUs.

use super::{Answer, Subject, about_us};

/// Steal in percent of the time wanted, from which on it is worth a word, and from which on numbers suffer.
const STEAL: (f64, f64) = (1.0, 5.0);

/// A tick of the kernel, in percent of the window.
const TICK_PERCENT: f64 = 10.0;

/// Others' CPU time in percent of one CPU, likewise.
const OTHERS: (f64, f64) = (10.0, 25.0);

pub(super) fn steal(subject: &Subject<'_>) -> Answer {
    let (Some(now), Some(since_boot)) = (subject.sizes.steal_percent, subject.sizes.steal_since_boot_percent) else {
        return Answer::warning(
            "steal time could not be determined",
            "an invocation that the hypervisor disturbed may not be recognised",
            "make /proc/stat readable, and let threads be started and placed on the measured CPU",
        );
    };
    let what = format!(
        "the hypervisor took {now:.0} % of a busy CPU's time just now, {since_boot:.1} % of the time wanted since boot"
    );
    // The window counts in steps of 5 %, so a single step is as likely chance.
    // A single tick of the kernel may be chance.
    let worst = since_boot.max(if now > TICK_PERCENT { now } else { 0.0 });
    let gap = about_us(subject.sizes.longest_gap_us);
    let effect = format!("a spinning thread was interrupted for up to {gap}; disturbed starts are marked and repeated");
    let cure = "move the virtual machine to a quieter host, or give it dedicated CPUs";
    match worst {
        worst if worst >= STEAL.1 => Answer::warning(what, effect, cure),
        worst if worst >= STEAL.0 => Answer::note(what, effect, cure),
        _ => Answer::fine(what),
    }
}

pub(super) fn neighbours(subject: &Subject<'_>) -> Answer {
    let Some(others) = subject.sizes.others_percent else {
        return Answer::warning(
            "how much CPU time other processes use could not be determined",
            "an invocation that others disturbed may not be recognised",
            "make /proc/stat readable, and let threads be started and placed on the measured CPU",
        );
    };
    let what =
        format!("other processes used {others:.0} % of one CPU over the last {} ms", super::sizes::WINDOW.as_millis());
    let effect = format!(
        "on the measured CPU they add their time slices to samples; on another one they keep it awake, which makes free-placed switches {} \
         instead of {}",
        about_us(subject.sizes.hop_same_us),
        about_us(subject.sizes.hop_apart_us),
    );
    let cure = "end or pause other work on this machine while it measures";
    match others {
        others if others >= OTHERS.1 => Answer::warning(what, effect, cure),
        others if others >= OTHERS.0 => Answer::note(what, effect, cure),
        _ => Answer::fine(what),
    }
}
