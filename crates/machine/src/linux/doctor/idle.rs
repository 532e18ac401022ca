//! Idle CPUs.

use super::{Subject, time_us};
use switchcost_model::Severity::{Fine, Note, Warning};
use switchcost_model::{Finding, finding};

/// From this ratio on, where the scheduler puts a task matters more than how it is switched.
const MUCH_MORE: f64 = 5.0;

pub(super) fn waking(subject: &Subject<'_>) -> Finding {
    let driver = subject.host.read("/sys/devices/system/cpu/cpuidle/current_driver");
    let mut driver = driver.unwrap_or_else(|_| "unknown".to_owned());
    if let Ok(poll) = subject.host.read("/sys/module/haltpoll/parameters/guest_halt_poll_ns") {
        driver.push_str(&format!(", guest_halt_poll_ns={poll}"));
    }
    let (on_one, on_two) = (subject.sizes.hop_same_us, subject.sizes.hop_apart_us);
    let Some(times) = on_two.zip(on_one).map(|(apart, same)| apart / same) else {
        return finding!(Note, idle_wakeup.unknown, driver);
    };
    let (apart, same, ratio) = (time_us(on_two), time_us(on_one), format!("{times:.*}", usize::from(times < 10.0)));
    if times < MUCH_MORE {
        return finding!(Fine, idle_wakeup.near, apart, ratio, same, driver);
    }
    finding!(Warning, idle_wakeup.far, apart, ratio, same, driver)
}
