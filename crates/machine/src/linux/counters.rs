//! Counters by perf_event_open(2). They are this thread's own, off, and inherited: what it forks
//! begins to count at its exec. So nothing of a start is missed, and no other program is stopped or
//! looked into.

use super::host::cause;
use perf_event::events::{Hardware, Software};
use perf_event::{Builder, CountAndTime};
use std::collections::BTreeMap;
use switchcost_model::{Counter, Obstacle};

/// What may be counted of whom.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// Events that are counted of a program and of all that it starts. The kernel closes them when this
/// is dropped, also with the host.
pub struct Counters(Vec<(String, Result<perf_event::Counter, Obstacle>)>);

impl std::fmt::Debug for Counters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} counters", self.0.len())
    }
}

impl Counters {
    /// Opens these for the program that the calling thread starts next: they count from its exec to
    /// the end of the last of its descendants.
    #[must_use]
    pub fn open(events: &[Counter]) -> Self {
        let paranoid = || std::fs::read_to_string(PARANOID).unwrap_or_default().trim().to_owned();
        let named = events.iter().flat_map(|event| event.names().into_iter().map(|name| (*event, name)));
        let open = |(event, name): (Counter, String)| {
            let counter = builder(event, &name).build().map_err(|error| refusal(&error, paranoid()));
            (name, counter)
        };
        Self(named.map(open).collect())
    }

    /// One of them is open.
    #[must_use]
    pub fn any(&self) -> bool {
        self.0.iter().any(|(_, open)| open.is_ok())
    }

    /// What was counted, by the name of the event, or why it was not.
    #[must_use]
    pub fn read(self) -> BTreeMap<String, Result<u64, Obstacle>> {
        let read = |mut counter: perf_event::Counter| {
            let refused = |error| Obstacle::CounterRefused { cause: cause(&error) };
            counter.read_count_and_time().map_err(refused).and_then(|read| whole(&read))
        };
        self.0.into_iter().map(|(name, open)| (name, open.and_then(read))).collect()
    }
}

fn builder(event: Counter, name: &str) -> Builder<'static> {
    let mut builder = match event {
        Counter::Cycles => Builder::new(Hardware::CPU_CYCLES),
        Counter::Instructions => Builder::new(Hardware::INSTRUCTIONS),
        Counter::BranchMisses => Builder::new(Hardware::BRANCH_MISSES),
        Counter::CacheMisses => Builder::new(Hardware::CACHE_MISSES),
        Counter::TaskClock => Builder::new(Software::TASK_CLOCK),
        Counter::PageFaults => Builder::new(Software::PAGE_FAULTS),
        Counter::ContextSwitches => Builder::new(Software::CONTEXT_SWITCHES),
    };
    builder.inherit(true).enable_on_exec(true);
    builder.exclude_kernel(name.ends_with(":u")).exclude_user(name.ends_with(":k"));
    builder
}

/// Why it cannot be opened (perf_event_open(2), ERRORS).
fn refusal(error: &std::io::Error, paranoid: String) -> Obstacle {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => Obstacle::NoCounter,
        Some(libc::EACCES) => Obstacle::CounterNotPermitted { paranoid },
        Some(libc::EPERM) => Obstacle::CounterFiltered,
        _ => Obstacle::CounterRefused { cause: cause(error) },
    }
}

/// What was counted all the time. What had a counter now and then would have to be scaled by a
/// guess.
fn whole(read: &CountAndTime) -> Result<u64, Obstacle> {
    match (read.time_running, read.time_enabled) {
        (_, 0) => Err(Obstacle::NobodyCounted),
        (ran, of) if ran < of => Err(Obstacle::Multiplexed),
        _ => Ok(read.count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Error;
    use std::process::Command;

    /// What the kernel answers: recorded from machines that refuse.
    #[test]
    fn each_refusal_names_its_cause_and_cure() {
        let said = |errno| refusal(&Error::from_raw_os_error(errno), "4".into()).to_string();
        for (errno, words) in [
            (libc::ENOENT, ["hypervisor gives guests none", "--counters=page-faults"]),
            (libc::EOPNOTSUPP, ["no such counter", "measure on hardware"]),
            (libc::EACCES, ["paranoid is 4", "CAP_PERFMON"]),
            (libc::EPERM, ["seccomp", "allow that call"]),
            (libc::ENOSYS, ["perf_event_open", "not implemented"]),
        ] {
            assert!(words.iter().all(|word| said(errno).contains(word)), "{}", said(errno));
        }
    }

    #[test]
    fn a_count_that_shared_its_counter_is_refused_and_not_scaled() {
        let read = |ran, of| whole(&CountAndTime { count: 1000, time_enabled: of, time_running: ran });
        assert_eq!(read(70, 70), Ok(1000));
        assert_eq!(read(35, 70), Err(Obstacle::Multiplexed));
        assert_eq!((read(0, 70), read(0, 0)), (Err(Obstacle::Multiplexed), Err(Obstacle::NobodyCounted)));
    }

    /// A program and what it starts are counted, this process is not.
    #[test]
    fn a_program_and_its_children_are_counted_from_exec_to_end() {
        let count = |script: &str| {
            let counters = Counters::open(&[Counter::TaskClock, Counter::PageFaults]);
            assert!(Command::new("sh").args(["-c", script]).status().unwrap().success());
            let mut read = counters.read();
            ["task-clock", "page-faults"].map(|name| read.remove(name).unwrap())
        };
        let [Ok(one), Ok(faults)] = count("true") else { return };
        let [Ok(more), _] = count("(i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done) & wait; exit 0") else { return };
        let begun = std::time::Instant::now();
        while begun.elapsed() < std::time::Duration::from_millis(20) {}
        assert!(one > 0 && faults > 10, "{one} {faults}");
        assert!(more > 2 * one, "{more} {one}");
    }
}
