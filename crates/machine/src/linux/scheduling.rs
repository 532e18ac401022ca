//! Classes, nice values and slices of the scheduler (sched_setattr(2)).

use super::host::Host;
use crate::load::{Class, MOST_HOGS, Scheduled, Scheduling};
use std::io;
use switchcost_model::Obstacle;

/// `struct sched_attr` of Linux 3.14, which every later kernel takes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Numbers of the classes (include/uapi/linux/sched.h).
const POLICIES: [(Class, u32); 6] =
    [(Class::Other, 0), (Class::Fifo, 1), (Class::Rr, 2), (Class::Batch, 3), (Class::Idle, 5), (Class::Deadline, 6)];

/// Of its period a task of DEADLINE may run this share: far more than a wake-up takes, and little
/// enough to be admitted.
const SHARE: u64 = 10;

impl From<Scheduling> for Attributes {
    fn from(wanted: Scheduling) -> Self {
        let policy = POLICIES.iter().find(|(class, _)| *class == wanted.class).map_or(0, |(_, policy)| *policy);
        let real_time = matches!(wanted.class, Class::Fifo | Class::Rr);
        let deadline = wanted.class == Class::Deadline;
        let of = |value: u64| if deadline { value } else { 0 };
        Self {
            size: size_of::<Self>() as u32,
            policy,
            flags: 0,
            nice: if real_time || deadline { 0 } else { wanted.nice },
            priority: u32::from(real_time),
            runtime: if deadline { wanted.slice_ns / SHARE } else { wanted.slice_ns },
            deadline: of(wanted.slice_ns),
            period: of(wanted.slice_ns),
        }
    }
}

/// Schedules a task so; 0: the caller. Async-signal-safe.
pub(super) fn set(task: i32, wanted: Scheduling) -> io::Result<()> {
    put(task, Attributes::from(wanted))
}

fn put(task: i32, attributes: Attributes) -> io::Result<()> {
    // SAFETY: the kernel reads `size` bytes of the structure, which it is made of, and writes
    // nothing but the size, on error, to memory of ours.
    let answer = unsafe { libc::syscall(libc::SYS_sched_setattr, task, &raw const attributes, 0) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn get(task: i32) -> Option<Attributes> {
    let mut attributes = Attributes::default();
    let size = size_of::<Attributes>();
    // SAFETY: the kernel writes at most `size` bytes to the structure, which is as large.
    let answer = unsafe { libc::syscall(libc::SYS_sched_getattr, task, &raw mut attributes, size, 0) };
    (answer == 0).then_some(attributes)
}

/// Leaves the class that a parent handed on for the usual one. Who inherits that children are reset
/// (`SCHED_RESET_ON_FORK`) may keep that alone.
pub(super) fn leave_class() {
    const RESET_ON_FORK: u64 = 1;
    let Some(own) = get(0).filter(|own| own.policy != 0) else { return };
    let usual = Attributes { nice: own.nice, ..Attributes::from(Scheduling::USUAL) };
    let _ = put(0, usual).or_else(|_| put(0, Attributes { flags: RESET_ON_FORK, ..usual }));
}

/// See [`crate::load::refusal`]. A thread of the host tries: what the kernel says is nearer to the
/// truth than what capabilities and limits let one guess.
pub(crate) fn refusal(wanted: Scheduling, pinned: bool, hogs: u64, period_ns: u64) -> Option<Obstacle> {
    let resolution = rustix::time::clock_getres(rustix::time::ClockId::Monotonic);
    let resolution = resolution.tv_sec as u64 * 1_000_000_000 + resolution.tv_nsec as u64;
    if period_ns < resolution {
        return Some(Obstacle::TimersTooCoarse { resolution_ns: resolution, period_ns });
    }
    let most = rustix::process::getrlimit(rustix::process::Resource::Nproc).current;
    let bound = most.filter(|_| !rustix::process::geteuid().is_root()).unwrap_or(u64::MAX).min(MOST_HOGS as u64);
    if hogs > bound {
        return Some(Obstacle::TooManyHogs { hogs, most: bound });
    }
    if wanted == Scheduling::USUAL && inherits_usual() {
        return None;
    }
    if wanted.class == Class::Deadline && pinned {
        return Some(Obstacle::DeadlineIsPlaced);
    }
    std::thread::spawn(move || tried(wanted)).join().unwrap_or(Some(Obstacle::NotTried))
}

/// What the host starts is scheduled as a task is that nobody changed: so is the host.
pub(crate) fn inherits_usual() -> bool {
    get(0).is_some_and(|own| own.policy == 0 && own.nice == 0)
}

/// In a thread that ends after it.
fn tried(wanted: Scheduling) -> Option<Obstacle> {
    let (class, nice) = (wanted.class.word().to_owned(), wanted.nice);
    match set(0, wanted) {
        // This thread may be pinned where the probe's are not.
        Err(_) if wanted.class == Class::Deadline => None,
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            Some(Obstacle::ClassNotPermitted { class, nice, handed_on: !inherits_usual() })
        }
        Err(error) => Some(Obstacle::ClassRefused { class, nice, cause: super::host::cause(&error) }),
        Ok(()) if wanted.slice_ns == 0 || get(0).is_some_and(|has| has.runtime == wanted.slice_ns) => None,
        Ok(()) => Some(Obstacle::NoSlices),
    }
}

/// Word for a class by its number; of one that is not known here, the number.
pub(super) fn word(policy: u32) -> String {
    let class = POLICIES.iter().find(|(_, known)| *known == policy).map(|(class, _)| *class);
    class.map_or_else(|| policy.to_string(), |class| class.word().to_owned())
}

/// What there is to see of these tasks, each given as process and task.
pub(super) fn read(host: &Host, tasks: impl Iterator<Item = (i32, i32)>) -> Scheduled {
    let mut seen = Scheduled::default();
    for (pid, task) in tasks {
        let Some(attributes) = get(task) else { continue };
        let class = POLICIES.iter().find(|(_, policy)| *policy == attributes.policy).map(|(class, _)| *class);
        seen.classes.insert(word(attributes.policy));
        seen.nices.insert(attributes.nice);
        let fair = !matches!(class, Some(Class::Deadline | Class::Fifo | Class::Rr));
        seen.slices_ns.insert(if fair { attributes.runtime } else { 0 });
        let file = |name: &str| host.read(format!("/proc/{pid}/task/{task}/{name}")).unwrap_or_default();
        seen.channels.extend(Some(file("wchan")).filter(|channel| !matches!(channel.as_str(), "" | "0")));
        // One may have ended by now; some kernels keep none of any.
        let waited = file("schedstat").split_ascii_whitespace().nth(1).and_then(|ns| ns.parse::<u64>().ok());
        seen.waited_ns = seen.waited_ns.or(waited.map(|_| 0)).map(|sum| sum.saturating_add(waited.unwrap_or(0)));
    }
    seen
}
