//! Looks at a running program through `/proc`.

use super::host::Host;
use super::stat::Stat;
use super::{spawn, strays, sys};
use crate::interrupt::Interrupt;
use crate::program::{Observed, ProgramError, ThreadSeen, Woken};
use crate::spawn::ExitStatus;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

/// `USER_HZ` is 100 on every architecture that Linux still supports.
const NS_PER_TICK: u64 = 10_000_000;

/// `PF_KTHREAD` of include/linux/sched.h.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// See [`crate::program::available`].
pub(crate) fn available() -> Result<(), ProgramError> {
    super::own_ids().map_err(ProgramError::Unsupported)
}

/// Threads whose place is read at one look: of more, every n-th, each look others.
const MOST_PLACES: usize = 200;

/// How long a command may take to end once it is asked to.
const ENDING: Duration = Duration::from_secs(10);

/// How often a look asks what a thread waits in.
const MOST_TRIES: usize = 8;

/// Counters of a thread at one look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counters {
    voluntary: u64,
    involuntary: u64,
    cpu_ns: Option<u64>,
    /// How often it got a CPU.
    runs: Option<u64>,
}

/// A thread since the first look that saw it.
#[derive(Debug)]
struct Known {
    first: Counters,
    last: Counters,
    seen: ThreadSeen,
}

/// See the crate's [`crate::program::Watched`].
pub(crate) struct Watched {
    host: Host,
    pid: u32,
    children: bool,
    program: String,
    /// The program was started by the host: its counters began at nothing.
    from_birth: bool,
    child: Option<Child>,
    pidfd: Option<OwnedFd>,
    began: Instant,
    last: Instant,
    threads: BTreeMap<(u32, u32), Known>,
    group: BTreeMap<u32, (u64, u64)>,
    wakes: (Option<u64>, Option<u64>),
    totals: Option<(u64, u64)>,
    uncounted_children: bool,
    samples: u32,
    highest_cost: Duration,
    own_ns: u64,
    ended: bool,
    of_another_user: bool,
    text: String,
    bytes: Box<[u8]>,
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watched").field("pid", &self.pid).finish_non_exhaustive()
    }
}

impl Watched {
    pub(crate) fn begin(pid: u32, children: bool, from_birth: bool) -> Result<Self, ProgramError> {
        Self::on(Host::real(), pid, children, from_birth)
    }

    /// The same for any machine; takes the first look.
    fn on(host: Host, pid: u32, children: bool, from_birth: bool) -> Result<Self, ProgramError> {
        let stat = host.read(format!("/proc/{pid}/stat")).map_err(|_| missing(pid))?;
        let stat = Stat::of(&stat).ok_or(ProgramError::Gone(pid))?;
        let program = stat.name.to_owned();
        if stat.flags().is_some_and(|flags| flags & KERNEL_THREAD != 0) {
            return Err(ProgramError::Kernel(pid, program));
        }
        if has_ended(&stat) && !from_birth {
            return Err(ProgramError::Ended(pid, program));
        }
        let of_another_user = is_of_another_user(&host, pid);
        let now = Instant::now();
        let mut watched = Self {
            pid,
            children,
            program,
            from_birth,
            child: None,
            pidfd: raw_pid(pid).and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()),
            began: now,
            last: now,
            threads: BTreeMap::new(),
            group: BTreeMap::new(),
            wakes: (wake_interrupts(&host), None),
            totals: None,
            uncounted_children: false,
            samples: 0,
            highest_cost: Duration::ZERO,
            own_ns: 0,
            ended: false,
            of_another_user,
            text: String::new(),
            bytes: vec![0; 16 * 1024].into(),
            host,
        };
        if !watched.sample() && !from_birth {
            return Err(missing(pid));
        }
        Ok(watched)
    }

    /// The program is a child of the host.
    pub(crate) fn own(&mut self, child: Child) {
        self.child = Some(child);
    }

    pub(crate) fn sample(&mut self) -> bool {
        let before = sys::own_cpu_ns();
        let at = Instant::now();
        let mut here = BTreeSet::new();
        // What has ended is not read again, but for a command, whose end is seen: its counts would be of a later moment than the time they are divided by.
        let alive = !self.is_gone();
        let processes = if alive || self.samples == 0 || self.child.is_some() { self.processes() } else { Vec::new() };
        let folders: Vec<(u32, OwnedFd, Vec<u32>)> = processes
            .iter()
            .filter_map(|process| {
                // Files are opened from here: four names to look up for each of them would be a tenth of a look's cost.
                let folder = open(&rustix::fs::CWD, self.host.path(format!("/proc/{process}/task"))).ok()?;
                Some((*process, folder, threads_of(&self.host, *process)))
            })
            .collect();
        let count: usize = folders.iter().map(|(_, _, threads)| threads.len()).sum();
        let every = count.div_ceil(MOST_PLACES).max(1);
        let all = folders.iter().flat_map(|(process, folder, ids)| ids.iter().map(move |id| (*process, folder, *id)));
        for (index, (process, folder, thread)) in all.enumerate() {
            let placed = index % every == self.samples as usize % every;
            if self.sample_task(folder, process, thread, placed) {
                here.insert((process, thread));
            }
        }
        for process in processes {
            self.group_time(process);
        }
        for (id, known) in &mut self.threads {
            known.seen.ended = !here.contains(id);
        }
        self.samples += 1;
        if alive || self.samples == 1 {
            self.last = at;
        }
        self.ended = !alive;
        self.wakes.1 = wake_interrupts(&self.host);
        let cost = sys::own_cpu_ns().saturating_sub(before);
        self.own_ns += cost;
        self.highest_cost = self.highest_cost.max(Duration::from_nanos(cost));
        alive
    }

    fn is_gone(&self) -> bool {
        !self.stat_of_program(|stat| !has_ended(stat))
    }

    /// False: not so, or not to be read.
    fn stat_of_program(&self, holds: impl Fn(&Stat<'_>) -> bool) -> bool {
        let stat = self.host.read(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        Stat::of(&stat).is_some_and(|stat| holds(&stat))
    }

    /// The program's process, and its descendants if they are wanted.
    fn processes(&self) -> Vec<u32> {
        let mut found = vec![self.pid];
        if !self.children {
            return found;
        }
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for pid in self.host.names("/proc").iter().filter_map(|name| name.parse::<u32>().ok()) {
            let stat = self.host.read(format!("/proc/{pid}/stat")).unwrap_or_default();
            if let Some(parent) = Stat::of(&stat).and_then(|stat| stat.parent()) {
                children.entry(parent.unsigned_abs()).or_default().push(pid);
            }
        }
        let mut next = 0;
        while let Some(&pid) = found.get(next) {
            found.extend(children.remove(&pid).unwrap_or_default());
            next += 1;
        }
        found
    }

    /// `tasks`: the folder of the process's threads; `placed`: where it ran and waits is also to be read. False: the thread is gone.
    fn sample_task(&mut self, tasks: &OwnedFd, process: u32, thread: u32, placed: bool) -> bool {
        let (cpu_ns, runs) =
            if self.read(tasks, format!("{thread}/schedstat")) { schedstat(&self.text) } else { (None, None) };
        // It has not run since, so that nothing else has changed.
        let same = |known: &Known| runs.is_some() && (known.last.cpu_ns, known.last.runs) == (cpu_ns, runs);
        if self.threads.get(&(process, thread)).is_some_and(same) {
            return true;
        }
        if !self.read(tasks, format!("{thread}/status")) {
            return false;
        }
        let Some(Status { name, voluntary, involuntary }) = Status::of(&self.text) else { return false };
        let counters = Counters { voluntary, involuntary, cpu_ns, runs };
        // Threads that were there before anybody looked begin with what they have; others with nothing.
        let born = self.samples > 0 || self.from_birth;
        let known = self.threads.entry((process, thread)).or_insert_with(|| Known {
            first: if born { Counters { cpu_ns: cpu_ns.map(|_| 0), ..Counters::default() } } else { counters },
            last: Counters::default(),
            seen: ThreadSeen { process, thread, ..ThreadSeen::default() },
        });
        let moved = known.last.voluntary + known.last.involuntary != voluntary + involuntary;
        known.last = counters;
        name.clone_into(&mut known.seen.name);
        if moved && placed {
            self.place(tasks, process, thread);
        }
        true
    }

    /// Where a thread ran and what it waits for: only of threads that have switched, since reading costs.
    fn place(&mut self, tasks: &OwnedFd, process: u32, thread: u32) {
        let stat = self.read(tasks, format!("{thread}/stat"));
        let cpu = stat.then(|| Stat::of(&self.text).and_then(|stat| stat.cpu()));
        let channel = self.channel(tasks, thread);
        let Some(known) = self.threads.get_mut(&(process, thread)) else { return };
        if let Some(cpu) = cpu.flatten() {
            *known.seen.cpus.entry(cpu).or_default() += 1;
        }
        if let Some(channel) = channel {
            *known.seen.channels.entry(channel).or_default() += 1;
        }
    }

    /// The kernel function that it waits in, or will soon: one that runs is looked at again, for some tens of microseconds, since a thread whose
    /// waits are as short as that would else hardly ever be seen in one.
    fn channel(&mut self, tasks: &OwnedFd, thread: u32) -> Option<String> {
        let tries = if self.of_another_user { 1 } else { MOST_TRIES };
        let path = format!("{thread}/wchan");
        for _ in 0..tries {
            if !self.read(tasks, &path) {
                return None;
            }
            // "0": it runs, or what it waits for is not for this user to know.
            let channel = self.text.trim();
            if !channel.is_empty() && channel != "0" {
                return Some(channel.to_owned());
            }
        }
        None
    }

    fn group_time(&mut self, process: u32) {
        if !self.read(&rustix::fs::CWD, self.host.path(format!("/proc/{process}/stat"))) {
            return;
        }
        let ticks = Stat::of(&self.text).and_then(|stat| stat.cpu_ticks());
        if let Some(ns) = ticks.map(|ticks| ticks * NS_PER_TICK) {
            let first = if self.samples > 0 || self.from_birth { 0 } else { ns };
            self.group.entry(process).or_insert((first, ns)).1 = ns;
        }
    }

    /// Reads a file into the buffer that all looks share. The kernel writes such a file at the first read; to ask for its size before and for more
    /// after a short answer would double the calls.
    fn read(&mut self, folder: &impl AsFd, path: impl rustix::path::Arg) -> bool {
        self.text.clear();
        let Ok(file) = open(folder, path) else { return false };
        loop {
            let Ok(count) = rustix::io::read(&file, &mut *self.bytes) else { return false };
            match str::from_utf8(&self.bytes[..count]) {
                Ok(text) => self.text.push_str(text),
                Err(_) => self.text.push_str(&String::from_utf8_lossy(&self.bytes[..count])), // A thread may be called anything.
            }
            if count < self.bytes.len() {
                return true;
            }
        }
    }

    pub(crate) fn cost_of_sample(&self) -> Duration {
        self.highest_cost
    }

    pub(crate) fn wait(&self, until: Instant, interrupt: Option<&Interrupt>) -> Woken {
        let Some(left) = until.checked_duration_since(Instant::now()) else { return Woken::Time };
        let mut fds: Vec<PollFd<'_>> =
            self.pidfd.iter().map(|fd| PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)).collect();
        fds.extend(interrupt.map(|interrupt| PollFd::from_borrowed_fd(interrupt.0.as_fd(), PollFlags::IN)));
        if poll(&mut fds, Some(&spawn::timespec(left))).is_err() {
            return Woken::Interrupted; // EINTR: the signal's own descriptor says the same.
        }
        let ready = |index: usize| fds.get(index).is_some_and(|fd| !fd.revents().is_empty());
        let programs = usize::from(self.pidfd.is_some());
        match () {
            () if ready(programs) => Woken::Interrupted,
            () if programs == 1 && ready(0) => Woken::Ended,
            () => Woken::Time,
        }
    }

    pub(crate) fn conclude(&mut self, kill: bool) -> Option<ExitStatus> {
        self.end(kill.then_some(ENDING))
    }

    /// Waits for the end of a command. With a patience, asks it to end first and kills it after that time.
    fn end(&mut self, patience: Option<Duration>) -> Option<ExitStatus> {
        let child = self.child.take()?;
        let pid = raw_pid(child.id())?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let runs = || matches!(rustix::process::waitid(WaitId::Pid(pid), options), Ok(None));
        if let Some(patience) = patience.filter(|_| runs()) {
            // It may just have ended. One that is stopped hears nothing until it goes on, and one may be deaf.
            let _ = rustix::process::kill_process(pid, Signal::TERM);
            let _ = rustix::process::kill_process(pid, Signal::CONT);
            strays::all_ended_by(Instant::now() + patience, &[pid]);
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        // Dead and not yet reaped it shows its last counts, and whether it waited for children: in the sums of its end theirs stand too.
        let _ = rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        self.sample();
        self.uncounted_children = !self.children && self.stat_of_program(|stat| stat.has_reaped());
        let reaped = sys::reap(child.id() as i32).ok();
        if let Some((_, usage)) = reaped {
            if !self.uncounted_children {
                self.totals = Some((usage.voluntary, usage.involuntary));
                self.group = [(self.pid, (0, usage.user_ns + usage.system_ns))].into();
            }
            self.last = Instant::now();
        }
        self.ended = true;
        Some(reaped.map_or(ExitStatus::Unknown, |(status, _)| spawn::ended(status)))
    }

    pub(crate) fn observed(&self) -> Observed {
        let threads: Vec<ThreadSeen> = self
            .threads
            .values()
            .map(|known| ThreadSeen {
                voluntary: known.last.voluntary.saturating_sub(known.first.voluntary),
                involuntary: known.last.involuntary.saturating_sub(known.first.involuntary),
                cpu_ns: known.last.cpu_ns.zip(known.first.cpu_ns).map(|(last, first)| last.saturating_sub(first)),
                ..known.seen.clone()
            })
            .collect();
        let mut blind = Vec::new();
        if self.uncounted_children {
            blind.push("the processes that it started and waited for; --children counts them".to_owned());
        }
        let lost = threads.iter().filter(|thread| thread.ended && thread.thread != self.pid).count();
        if lost > 0 && self.totals.is_none() {
            blind.push(format!(
                "{lost} threads ended while it was watched; what they did after the last look at them is not counted"
            ));
        }
        let switching = threads.iter().any(|thread| thread.voluntary > 0);
        if switching && threads.iter().all(|thread| thread.channels.is_empty()) {
            let why = if self.of_another_user { "the program is another user's" } else { "no thread was seen waiting" };
            blind.push(format!("what the threads wait for is not known ({why}), so that the general price is taken"));
        }
        Observed {
            // A script that starts a program in its place is called as that is.
            program: self
                .threads
                .get(&(self.pid, self.pid))
                .map_or_else(|| self.program.clone(), |known| known.seen.name.clone()),
            process: self.pid,
            wall: self.last.duration_since(self.began),
            threads,
            wake_interrupts: self.wakes.1.zip(self.wakes.0).map(|(last, first)| last.saturating_sub(first)),
            group_cpu_ns: (!self.group.is_empty())
                .then(|| self.group.values().map(|(first, last)| last.saturating_sub(*first)).sum()),
            totals: self.totals,
            samples: self.samples,
            own_cpu_ns: self.own_ns,
            ended: self.ended,
            blind,
        }
    }
}

/// A started command that nobody concluded, because the host fails, does not stay behind.
impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.conclude(true);
    }
}

fn open(folder: &impl AsFd, path: impl rustix::path::Arg) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(folder, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

fn raw_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Gone, or only not shown: a signal that is none finds out.
fn missing(pid: u32) -> ProgramError {
    match raw_pid(pid).map(rustix::process::test_kill_process) {
        Some(Ok(()) | Err(rustix::io::Errno::PERM)) => ProgramError::Hidden(pid),
        _ => ProgramError::Gone(pid),
    }
}

fn is_of_another_user(host: &Host, pid: u32) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    own != 0 && std::fs::metadata(host.path(format!("/proc/{pid}"))).is_ok_and(|folder| folder.uid() != own)
}

fn threads_of(host: &Host, process: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(host.path(format!("/proc/{process}/task"))).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// What a look takes from a `status` file, in one pass: it has some sixty lines.
struct Status<'a> {
    name: &'a str,
    voluntary: u64,
    involuntary: u64,
}

impl<'a> Status<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (mut name, mut voluntary, mut involuntary) = ("?", None, None);
        for (field, value) in text.lines().filter_map(|line| line.split_once(':')) {
            match field {
                "Name" => name = value.trim(),
                "voluntary_ctxt_switches" => voluntary = value.trim().parse().ok(),
                "nonvoluntary_ctxt_switches" => involuntary = value.trim().parse().ok(),
                _ => {}
            }
        }
        Some(Self { name, voluntary: voluntary?, involuntary: involuntary? })
    }
}

/// No thread of the process runs any more: the first may end long before the others.
fn has_ended(stat: &Stat<'_>) -> bool {
    stat.has_ended() && stat.threads().is_none_or(|threads| threads <= 1)
}

/// CPU time in ns, and how often it got a CPU (Documentation/scheduler/sched-stats.rst).
fn schedstat(text: &str) -> (Option<u64>, Option<u64>) {
    let mut numbers = text.split_ascii_whitespace().map(|word| word.parse().ok());
    (numbers.next().flatten(), numbers.nth(1).flatten())
}

/// Interrupts by which CPUs make each other look: the sum over all CPUs of those for rescheduling and for calling a function, by either of which a
/// kernel wakes an idle one. A CPU's own count of idle states would be nearer, but not every kernel keeps it.
fn wake_interrupts(host: &Host) -> Option<u64> {
    let text = host.read("/proc/interrupts").ok()?;
    let counts = text
        .lines()
        .filter(|line| line.contains("Rescheduling interrupts") || line.contains("Function call interrupts"));
    let sum =
        |line: &str| line.split_ascii_whitespace().skip(1).map_while(|word| word.parse::<u64>().ok()).sum::<u64>();
    counts.map(sum).reduce(|a, b| a + b)
}

#[cfg(test)]
mod tests;
