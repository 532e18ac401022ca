//! Sizes of effects, estimated on the spot in a tenth of a second. They make findings concrete;
//! they are never results, for those come from probes.

use super::counters::{self, Gap};
use crate::cpus::{Cpus, on_cpu, pin_self};
use crate::os::core_clock;
use crate::os::host::Host;
use crate::os::sys;
use crate::os::watch::Stat;
use crate::watch::SoFar;
use rustix::pipe::{PipeFlags, pipe_with};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How long others are watched at least: five ticks of the kernel, and ten where there is something
/// to see.
const WINDOWS: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(100)];

/// Others' CPU time in percent of one CPU, from which on it is worth a word, and from which on
/// numbers suffer.
pub(super) const OTHERS: (f64, f64) = (10.0, 25.0);

/// How much of a window is spent spinning at least: some ticks of any kernel.
const SPIN: Duration = Duration::from_millis(20);

/// Round trips between two threads: enough to get past the first wake-ups, few enough to last 10 ms
/// where each costs 100 µs.
const ROUND_TRIPS: u32 = 50;

/// Reads of the clock, system calls.
const CALLS: u32 = 2000;

/// Estimates; None where one could not be made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sizes {
    /// How long others were watched.
    pub watched: Duration,
    /// CPU time of other processes meanwhile, percent of one CPU.
    pub others_percent: Option<f64>,
    /// Steal meanwhile, of one CPU that was busy for all of it, percent; in steps of 10.
    pub steal_percent: Option<f64>,
    /// Steal since boot in percent of the time that CPUs wanted to run.
    pub steal_since_boot_percent: Option<f64>,
    /// Longest time during which a spinning thread did not run, µs.
    pub longest_gap_us: Option<f64>,
    /// One reading of the monotonic clock, ns.
    pub clock_read_ns: Option<f64>,
    /// Smallest step of the monotonic clock that was seen, ns.
    pub clock_step_ns: Option<f64>,
    /// A system call that does nothing, ns.
    pub system_call_ns: Option<f64>,
    /// Switch between two threads on one CPU, one way, µs.
    pub hop_same_us: Option<f64>,
    /// The same on two CPUs, µs.
    pub hop_apart_us: Option<f64>,
    /// Clock of the measured core, MHz.
    pub core_mhz: Option<f64>,
    /// The highest that is known of it, MHz.
    pub stored_mhz: Option<f64>,
    /// Memory that was written may not be executed.
    pub no_new_code: bool,
    /// Difference between the counters of the measured CPU and of any other.
    pub counters: Option<Gap>,
}

impl Sizes {
    /// Makes all estimates. The calling thread keeps its affinity.
    pub(crate) fn estimate(host: &Host, since: SoFar<'_>) -> Self {
        let mut sizes = Self { steal_since_boot_percent: steal_since_boot(host), ..Self::default() };
        sizes.no_new_code = !sys::may_execute_what_it_wrote();
        let Ok(cpus) = Cpus::detect() else { return sizes };
        (sizes.clock_read_ns, sizes.clock_step_ns, sizes.system_call_ns) =
            on_cpu(cpus.measured(), || (Some(clock_read()), clock_step(), Some(system_call()))).unwrap_or_default();
        sizes.core_mhz = core_mhz();
        sizes.hop_same_us = hop(cpus.measured(), cpus.measured());
        sizes.counters = counters::gap(cpus.measured(), cpus.allowed());
        sizes.hop_apart_us = cpus.pair().ok().and_then(|[a, b]| hop(a, b));
        // Last: all before is part of the time that others are watched.
        sizes.others(&cpus, since);
        sizes
    }

    /// Spins on the measured CPU until others were watched for long enough: steal shows only on a
    /// CPU that wants to run, as the caller did until now.
    fn others(&mut self, cpus: &Cpus, since: SoFar<'_>) {
        for window in WINDOWS {
            let left = window.saturating_sub(since().0).max(SPIN);
            // Where no thread may be started nothing wanted to run, and others are not known.
            let Some(gap) = on_cpu(cpus.measured(), || longest_gap(left)) else { return };
            self.longest_gap_us = Some(gap.max(self.longest_gap_us.unwrap_or(0.0)));
            let (watched, change) = since();
            self.watched = watched;
            self.others_percent = share(change.busy_ns, watched, cpus.allowed().len());
            self.steal_percent = share(change.steal_ns, watched, 1);
            let quiet = self.others_percent.is_some_and(|used| used < OTHERS.0) && self.steal_percent == Some(0.0);
            if quiet || watched >= WINDOWS[1] {
                return;
            }
        }
    }
}

/// CPU time in percent of one CPU, and at most all of so many: the kernel counts in ticks of 10 ms.
fn share(used_ns: Option<u64>, wall: Duration, cpus: usize) -> Option<f64> {
    used_ns.map(|used| (used as f64 / wall.as_nanos() as f64 * 100.0).min(100.0 * cpus as f64))
}

/// Clock of the measured core, MHz; None: it cannot be measured.
pub(crate) fn core_mhz() -> Option<f64> {
    on_cpu(Cpus::detect().ok()?.measured(), core_clock::hz).flatten().map(|hz| hz / 1e6)
}

fn longest_gap(lasts: Duration) -> f64 {
    let began = Instant::now();
    let (mut last, mut longest) = (began, Duration::ZERO);
    while last - began < lasts {
        let now = Instant::now();
        longest = longest.max(now - last);
        last = now;
    }
    longest.as_nanos() as f64 / 1e3
}

fn per_call(mut call: impl FnMut()) -> f64 {
    let began = Instant::now();
    (0..CALLS).for_each(|_| call());
    began.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

fn clock_read() -> f64 {
    per_call(|| {
        std::hint::black_box(Instant::now());
    })
}

/// `getppid` is never answered without the kernel.
fn system_call() -> f64 {
    per_call(|| {
        std::hint::black_box(rustix::process::getppid());
    })
}

fn clock_step() -> Option<f64> {
    let mut last = Instant::now();
    let steps = (0..CALLS).filter_map(|_| {
        let now = Instant::now();
        let step = now - std::mem::replace(&mut last, now);
        (step > Duration::ZERO).then_some(step)
    });
    steps.min().map(|step| step.as_nanos() as f64)
}

/// Two threads hand a byte to and fro through two pipes: µs one way.
fn hop(here: u32, there: u32) -> Option<f64> {
    let pipe = || pipe_with(PipeFlags::CLOEXEC).ok();
    let ((ping_read, ping_write), (pong_read, pong_write)) = (pipe()?, pipe()?);
    std::thread::scope(|scope| {
        // Each thread owns its ends, so that one which fails wakes the other by closing them.
        let partner = move || {
            pin_self(&[there]).ok()?;
            while pass(&ping_read, &pong_write).is_some() {}
            Some(())
        };
        let driver = move || {
            pin_self(&[here]).ok()?;
            rustix::io::write(&ping_write, b"x").ok()?;
            rustix::io::read(&pong_read, &mut [0_u8; 1]).ok()?;
            let began = Instant::now();
            for _ in 0..ROUND_TRIPS {
                rustix::io::write(&ping_write, b"x").ok()?;
                (rustix::io::read(&pong_read, &mut [0_u8; 1]).ok()? == 1).then_some(())?;
            }
            Some(began.elapsed().as_nanos() as f64 / 1e3 / f64::from(ROUND_TRIPS * 2))
        };
        std::thread::Builder::new().spawn_scoped(scope, partner).ok()?;
        std::thread::Builder::new().spawn_scoped(scope, driver).ok()?.join().ok()?
    })
}

/// Waits for a byte and passes it on; None at the end.
fn pass(from: &OwnedFd, to: &OwnedFd) -> Option<()> {
    let mut byte = [0_u8; 1];
    (rustix::io::read(from, &mut byte).ok()? == 1).then_some(())?;
    rustix::io::write(to, &byte).ok().map(drop)
}

fn steal_since_boot(host: &Host) -> Option<f64> {
    let stat = Stat::read(host);
    let (steal, busy) = (stat.total(|times| times.steal)?, stat.total(|times| times.busy)?);
    (steal + busy > 0).then(|| steal as f64 / (steal + busy) as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_stays_within_its_bounds() {
        let ms = |ms| Duration::from_millis(ms);
        assert_eq!(share(Some(100_000_000), ms(200), 2), Some(50.0));
        assert_eq!(share(Some(420_000_000), ms(200), 2), Some(200.0));
        assert_eq!(share(Some(210_000_000), ms(200), 1), Some(100.0));
        assert_eq!(share(None, ms(200), 1), None);
    }
}
