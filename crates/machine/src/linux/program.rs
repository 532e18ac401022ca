//! Looks at a running program through `/proc`.

mod reading;

use reading::{Status, has_ended, is_of_another_user, missing, open, raw_pid, schedstat, threads_of, wake_interrupts};

use super::group::Group;
use super::host::Host;
use super::stat::Stat;
use super::{spawn, strays, sys};
use crate::interrupt::Interrupt;
use crate::program::{Observed, ProgramError, Service, ThreadSeen, Woken};
use crate::spawn::ExitStatus;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{PidfdFlags, Signal, WaitId, WaitIdOptions};
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

/// Share of a service's CPU time from which on it is said that looks missed it.
const UNSEEN: f64 = 0.05;

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
    /// What is watched is this, and no process with its descendants.
    service: Option<Group>,
    /// Names of the processes of a service.
    names: BTreeMap<u32, String>,
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
        let pidfd = raw_pid(pid).and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok());
        let mut watched = Self::of(host, program);
        (watched.pid, watched.children, watched.from_birth) = (pid, children, from_birth);
        (watched.pidfd, watched.of_another_user) = (pidfd, of_another_user);
        if !watched.sample() && !from_birth {
            return Err(missing(pid));
        }
        Ok(watched)
    }

    pub(crate) fn service(service: &Service) -> Result<Self, ProgramError> {
        Self::service_on(Host::real(), service)
    }

    fn service_on(host: Host, service: &Service) -> Result<Self, ProgramError> {
        let group = Group::find(&host, service)?;
        let of_another_user = group.processes(&host).iter().any(|pid| is_of_another_user(&host, *pid));
        let name = group.name.clone();
        let mut watched = Self::of(host, name);
        (watched.service, watched.of_another_user) = (Some(group), of_another_user);
        watched.sample();
        Ok(watched)
    }

    /// Nothing is looked at yet.
    fn of(host: Host, program: String) -> Self {
        let now = Instant::now();
        Self {
            pid: 0,
            children: false,
            service: None,
            names: BTreeMap::new(),
            program,
            from_birth: false,
            child: None,
            pidfd: None,
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
            of_another_user: false,
            text: String::new(),
            bytes: vec![0; 16 * 1024].into(),
            host,
        }
    }

    /// The program is a child of the host.
    pub(crate) fn own(&mut self, child: Child) {
        self.child = Some(child);
    }

    pub(crate) fn sample(&mut self) -> bool {
        let before = sys::own_cpu_ns();
        let at = Instant::now();
        let mut here = BTreeSet::new();
        // What has ended is not read again, but for a command, whose end is seen: its counts would
        // be of a later moment than the time they are divided by.
        let alive = !self.is_gone();
        let processes = if alive || self.samples == 0 || self.child.is_some() { self.processes() } else { Vec::new() };
        let folders: Vec<(u32, OwnedFd, Vec<u32>)> = processes
            .iter()
            .filter_map(|process| {
                // Files are opened from here: four names to look up for each of them would be a
                // tenth of a look's cost.
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
        match self.service.as_ref().map(|service| service.cpu_ns(&self.host)) {
            // Its own count has what came and went between two looks.
            Some(Some(ns)) => self.group.entry(0).or_insert((ns, ns)).1 = ns,
            Some(None) if self.group.contains_key(&0) => {}
            _ => processes.into_iter().for_each(|process| self.group_time(process)),
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
        if let Some(service) = &self.service {
            return service.processes(&self.host).is_empty();
        }
        !self.stat_of_program(|stat| !has_ended(stat))
    }

    /// False: not so, or not to be read.
    fn stat_of_program(&self, holds: impl Fn(&Stat<'_>) -> bool) -> bool {
        let stat = self.host.read(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        Stat::of(&stat).is_some_and(|stat| holds(&stat))
    }

    /// The program's process, and its descendants if they are wanted.
    fn processes(&self) -> Vec<u32> {
        if let Some(service) = &self.service {
            return service.processes(&self.host);
        }
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

    /// `tasks`: the folder of the process's threads; `placed`: where it ran and waits is also to be
    /// read. False: the thread is gone.
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
        // Threads that were there before anybody looked begin with what they have; others with
        // nothing.
        let born = self.samples > 0 || self.from_birth;
        let known = self.threads.entry((process, thread)).or_insert_with(|| Known {
            first: if born { Counters { cpu_ns: cpu_ns.map(|_| 0), ..Counters::default() } } else { counters },
            last: Counters::default(),
            seen: ThreadSeen { process, thread, ..ThreadSeen::default() },
        });
        let moved = known.last.voluntary + known.last.involuntary != voluntary + involuntary;
        known.last = counters;
        name.clone_into(&mut known.seen.name);
        if self.service.is_some() {
            // The first thread is called as its process.
            if process == thread {
                self.names.insert(process, name.to_owned());
            }
            known.seen.program = self.names.get(&process).cloned().unwrap_or_default();
        }
        if moved && placed {
            self.place(tasks, process, thread);
        }
        true
    }

    /// Where a thread ran and what it waits for: only of threads that have switched, since reading
    /// costs.
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

    /// The kernel function that it waits in, or will soon: one that runs is looked at again, for
    /// some tens of microseconds, since a thread whose waits are as short as that would else hardly
    /// ever be seen in one.
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

    /// Reads a file into the buffer that all looks share. The kernel writes such a file at the
    /// first read; to ask for its size before and for more after a short answer would double the
    /// calls.
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

    /// Waits for the end of a command. With a patience, asks it to end first and kills it after
    /// that time.
    fn end(&mut self, patience: Option<Duration>) -> Option<ExitStatus> {
        let child = self.child.take()?;
        let pid = raw_pid(child.id())?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let runs = || matches!(rustix::process::waitid(WaitId::Pid(pid), options), Ok(None));
        if let Some(patience) = patience.filter(|_| runs()) {
            // It may just have ended. One that is stopped hears nothing until it goes on, and one
            // may be deaf.
            let _ = rustix::process::kill_process(pid, Signal::TERM);
            let _ = rustix::process::kill_process(pid, Signal::CONT);
            strays::all_ended_by(Instant::now() + patience, &[pid]);
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        // Dead and not yet reaped it shows its last counts, and whether it waited for children: in
        // the sums of its end theirs stand too.
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
        let group_cpu_ns = (!self.group.is_empty())
            .then(|| self.group.values().map(|(first, last)| last.saturating_sub(*first)).sum::<u64>());
        let seen_ns: u64 = threads.iter().filter_map(|thread| thread.cpu_ns).sum();
        if let Some(all) = group_cpu_ns.filter(|all| self.service.is_some() && *all > 0) {
            let unseen = all.saturating_sub(seen_ns) as f64 / all as f64;
            if unseen > UNSEEN {
                let share = (unseen * 100.0).round();
                blind.push(format!(
                    "processes and threads that came and went between two looks used {share} % of its CPU time; their switches are not counted"
                ));
            }
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
            processes: self.service.as_ref().map(|_| self.names.len()),
            wall: self.last.duration_since(self.began),
            threads,
            wake_interrupts: self.wakes.1.zip(self.wakes.0).map(|(last, first)| last.saturating_sub(first)),
            group_cpu_ns,
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

#[cfg(test)]
mod tests;
