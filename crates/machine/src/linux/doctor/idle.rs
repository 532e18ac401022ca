//! Idle CPUs.

use super::{Answer, Subject};
use switchcost_model::Quantity;

/// From this ratio on, where the scheduler puts a task matters more than how it is switched.
const MUCH_MORE: f64 = 5.0;

pub(super) fn waking(subject: &Subject<'_>) -> Answer {
    let driver = subject.host.read("/sys/devices/system/cpu/cpuidle/current_driver");
    let mut driver = driver.unwrap_or_else(|_| "unknown".to_owned());
    if let Ok(poll) = subject.host.read("/sys/module/haltpoll/parameters/guest_halt_poll_ns") {
        driver.push_str(&format!(", guest_halt_poll_ns={poll}"));
    }
    let (Some(same), Some(apart)) = (subject.sizes.hop_same_us, subject.sizes.hop_apart_us) else {
        return Answer::note(
            format!("the cost of waking an idle CPU could not be estimated (idle driver: {driver})"),
            "rows that the scheduler places may depend on whether a second CPU sleeps",
            "read rows placed on one CPU",
        );
    };
    let ratio = apart / same;
    let [on_one, on_two] = [same, apart].map(|us| Quantity::TIME.amount(us * 1000.0));
    let what = format!(
        "waking an idle second CPU takes {on_two}, {ratio:.0} times a switch on one CPU ({on_one}; idle driver: {driver})"
    );
    if ratio < MUCH_MORE {
        return Answer::fine(what);
    }
    Answer::warning(
        what,
        format!(
            "a switch that the scheduler places, or on two CPUs, is up to {ratio:.0} times more expensive while the second CPU is idle than while it is busy: \
             an idle machine gives the worse figure"
        ),
        "read rows placed on one CPU; for the others keep CPUs awake (boot with idle=poll, or in a guest: \
         echo 200000 | sudo tee /sys/module/haltpoll/parameters/guest_halt_poll_ns)",
    )
}
