//! Tasks that want the CPU beside a probe. The kernel shares CPUs out between sessions and control
//! groups before it looks at nice values, so hogs must be in the probe's own: they are forked from
//! its process just before that becomes the probe. Their parent ends at once, so that this process
//! adopts them and the probe has no children that it does not know.

use super::cpus::CpuSet;
use super::host::Host;
use super::stat::Stat;
use super::{scheduling, sys};
use crate::load::{HogPlan, MOST_HOGS as MOST, Scheduling};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::process::{Pid, Signal};
use rustix::thread::futex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// How long each may take to come to life.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the hogs and this process share.
#[repr(C)]
struct Board {
    go: AtomicU32,
    /// Process id of each that is ready; −1: it could not be scheduled as was asked.
    hogs: [AtomicI32; MOST],
}

/// A mapping that children inherit.
#[derive(Debug)]
struct Shared(*mut Board);

// SAFETY: the mapping holds atomics only, and lives as long as the value.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    fn new() -> io::Result<Self> {
        // SAFETY: a new anonymous mapping at an address of the kernel's choice overlaps nothing;
        // its zero bytes are a `Board`.
        let at = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                size_of::<Board>(),
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
            )
        }?;
        Ok(Self(at.cast()))
    }

    fn board(&self) -> &Board {
        // SAFETY: the mapping is a `Board` for as long as `self` lives.
        unsafe { &*self.0 }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: made by mmap with this size, and nobody else has a reference into it.
        let _ = unsafe { munmap(self.0.cast(), size_of::<Board>()) };
    }
}

/// Hogs of one start, asleep until they are released. Dropping it ends them.
#[derive(Debug)]
pub(crate) struct Hogs {
    shared: Arc<Shared>,
    all: usize,
    used_ns: AtomicU64,
}

/// What the child forks them by: made before the fork, so that nothing is allocated after it.
pub(super) struct Nest {
    shared: Arc<Shared>,
    host: Pid,
    cpus: Vec<CpuSet>,
    each: u32,
    forking: bool,
    scheduling: Scheduling,
}

/// Hogs to be, and what forks them.
pub(super) fn prepare(plan: &HogPlan) -> Result<(Hogs, Nest), String> {
    let all = plan.cpus.len() * plan.each as usize;
    if all > MOST {
        return Err(format!("{all} hogs are more than {MOST}"));
    }
    let shared = Arc::new(Shared::new().map_err(|error| super::host::cause(&error))?);
    let cpus = plan.cpus.iter().map(|&cpu| super::cpus::cpu_set(&[cpu])).collect::<Result<_, _>>()?;
    let (each, forking, scheduling) = (plan.each, plan.forking, plan.scheduling);
    let host = rustix::process::getpid();
    Ok((
        Hogs { shared: shared.clone(), all, used_ns: AtomicU64::new(0) },
        Nest { shared, host, cpus, each, forking, scheduling },
    ))
}

impl Nest {
    /// Forks them. Async-signal-safe: system calls only, no allocation, no lock.
    pub(super) fn fork(&self) -> io::Result<()> {
        for index in 0..self.cpus.len() * self.each as usize {
            let parent = fork()?;
            if parent == 0 {
                let between = rustix::process::getpid();
                match fork() {
                    Ok(0) => self.live(index, between),
                    made => end(i32::from(made.is_err())),
                }
            }
            if !matches!(sys::reap(parent), Ok((0, _))) {
                return Err(rustix::io::Errno::AGAIN.into());
            }
            self.await_one(index);
        }
        Ok(())
    }

    /// Until a hog has its CPU and its class, so that nobody takes it for one of the probe's tasks.
    /// One that stays away is missed at the release.
    fn await_one(&self, index: usize) {
        let seconds = || rustix::time::clock_gettime(rustix::time::ClockId::Monotonic).tv_sec;
        let until = seconds() + PATIENCE.as_secs() as i64 + 1;
        let ready = || self.shared.board().hogs.get(index).is_none_or(|pid| pid.load(Ordering::Acquire) != 0);
        while !ready() && seconds() < until {
            rustix::thread::sched_yield();
        }
    }

    fn live(&self, index: usize, between: Pid) -> ! {
        while rustix::process::getppid() == Some(between) {
            rustix::thread::sched_yield();
        }
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        if rustix::process::getppid() != Some(self.host) {
            end(0);
        }
        let _ = rustix::thread::set_name(c"switchcost-hog");
        // SAFETY: a system call on integers; this process uses no descriptor, and has copies only.
        unsafe { libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, 0) };
        let board = self.shared.board();
        let placed = self.cpus.get(index % self.cpus.len()).map(CpuSet::apply);
        let placed = matches!(placed, Some(Ok(()))) && scheduling::set(0, self.scheduling).is_ok();
        let pid = if placed { rustix::process::getpid().as_raw_pid() } else { -1 };
        if let Some(own) = board.hogs.get(index) {
            own.store(pid, Ordering::Release);
        }
        while board.go.load(Ordering::Acquire) == 0 {
            let _ = futex::wait(&board.go, futex::Flags::empty(), 0, None);
        }
        loop {
            if self.forking {
                match fork() {
                    Ok(0) => end(0),
                    Ok(child) => drop(sys::reap(child)),
                    Err(_) => {}
                }
                let pause = rustix::time::Timespec { tv_sec: 0, tv_nsec: 200_000 };
                let _ = rustix::thread::nanosleep(&pause);
            } else {
                for turn in 0..1_000_000_u32 {
                    let _ = std::hint::black_box(turn);
                }
            }
        }
    }
}

/// By system call: the C library's fork runs handlers that may want a lock which another thread of
/// the host held.
fn fork() -> io::Result<i32> {
    // SAFETY: without flags that share anything, clone is fork: the child goes on with a copy of
    // this stack and of all memory. Its arguments are zeros in whatever order an architecture takes
    // them.
    let answer = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer as i32) }
}

fn end(status: i32) -> ! {
    loop {
        // SAFETY: ends the process without a handler of the host's; it does not return.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}

impl Hogs {
    fn pids(&self) -> impl Iterator<Item = i32> + '_ {
        self.shared.board().hogs.iter().take(self.all).map(|pid| pid.load(Ordering::Acquire)).filter(|pid| *pid > 0)
    }

    /// Process ids of those that came to life.
    pub(crate) fn ids(&self) -> Vec<i32> {
        self.pids().collect()
    }

    /// Wakes them.
    ///
    /// # Errors
    /// How many could not be placed and scheduled as was asked.
    pub(crate) fn release(&self) -> Result<(), usize> {
        let board = self.shared.board();
        board.go.store(1, Ordering::Release);
        let _ = futex::wake(&board.go, futex::Flags::empty(), u32::MAX >> 1);
        let lacking = self.all - self.pids().count();
        if lacking == 0 { Ok(()) } else { Err(lacking) }
    }

    /// CPU time that they have used, with the children of those that fork, ns.
    pub(crate) fn cpu_ns(&self) -> u64 {
        let host = Host::real();
        self.pids().filter_map(|pid| super::tree::cpu_ns(&host, pid)).sum()
    }

    /// CPU time of those that have been ended, ns.
    pub(crate) fn used_ns(&self) -> u64 {
        self.used_ns.load(Ordering::Relaxed)
    }

    /// Somebody has stopped one of them.
    pub(crate) fn are_stopped(&self) -> bool {
        let host = Host::real();
        let state = |pid: i32| Stat::of(&host.read(format!("/proc/{pid}/stat")).ok()?)?.state();
        self.pids().any(|pid| matches!(state(pid), Some('T' | 't')))
    }

    /// Ends them all. They are reaped, so that their ids cannot be somebody else's before.
    pub(crate) fn end(&self) {
        // All of them first: to end, each waits for the CPU beside those that are still there.
        for pid in self.pids().filter_map(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        for own in self.shared.board().hogs.iter().take(self.all) {
            let pid = own.swap(0, Ordering::AcqRel);
            let Some(pid) = Pid::from_raw(pid).filter(|pid| pid.as_raw_pid() > 0) else { continue };
            if let Ok((_, usage)) = sys::reap(pid.as_raw_pid()) {
                self.used_ns.fetch_add(usage.user_ns + usage.system_ns, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.end();
    }
}
