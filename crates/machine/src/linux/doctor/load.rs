//! Who else uses the CPUs.

use super::sizes::OTHERS;
use super::{Subject, time_us};
use switchcost_model::Severity::{Fine, Note, Warning};
use switchcost_model::{Finding, finding};

/// Steal in percent of the time wanted, from which on it is worth a word, and from which on numbers
/// suffer.
const STEAL: (f64, f64) = (1.0, 5.0);

/// A tick of the kernel, in percent of the window.
const TICK_PERCENT: f64 = 10.0;

pub(super) fn steal(subject: &Subject<'_>) -> Finding {
    let (Some(now), Some(since_boot)) = (subject.sizes.steal_percent, subject.sizes.steal_since_boot_percent) else {
        return finding!(Warning, steal.unknown);
    };
    // A single tick of the kernel may be chance.
    let worst = since_boot.max(if now > TICK_PERCENT { now } else { 0.0 });
    let (now, since_boot) = (format!("{now:.0} %"), format!("{since_boot:.1} %"));
    if worst < STEAL.0 {
        return finding!(Fine, steal.little, now, since_boot);
    }
    let severity = if worst < STEAL.1 { Note } else { Warning };
    finding!(severity, steal.taken, now, since_boot, longest = time_us(subject.sizes.longest_gap_us))
}

pub(super) fn neighbours(subject: &Subject<'_>) -> Finding {
    let Some(others) = subject.sizes.others_percent else {
        return finding!(Warning, neighbours.unknown);
    };
    let (used, window) = (format!("{others:.0} %"), format!("{} ms", subject.sizes.watched.as_millis()));
    if others < OTHERS.0 {
        return finding!(Fine, neighbours.quiet, used, window);
    }
    let [same, apart] = [subject.sizes.hop_same_us, subject.sizes.hop_apart_us].map(time_us);
    finding!(if others < OTHERS.1 { Note } else { Warning }, neighbours.busy, used, window, same, apart)
}
