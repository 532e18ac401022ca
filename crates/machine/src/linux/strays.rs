//! Descendants that escaped: found by their parent, killed, reaped.

use super::stat::Stat;
use super::sys::{self, Usage};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Ids of children that have a handle. Locked while one is started, so that a sweep never sees one
/// without its entry.
static LIVE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
/// Held by who sweeps.
static SWEEPING: Mutex<()> = Mutex::new(());
static ADOPTING: AtomicBool = AtomicBool::new(false);
/// Children that were killed and did not end in time: nobody waits for them again, but they are
/// reaped if they end later.
static LEFT: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
/// The system lets nobody adopt orphans (qemu-user does not).
static MARKING: AtomicBool = AtomicBool::new(false);

/// Who was there before this program: a shell that starts services and then becomes it (`exec`)
/// leaves it children that are nobody's strays.
static BEFORE: OnceLock<Before> = OnceLock::new();

/// A second has so many units of the start time in `/proc/PID/stat`, on every architecture that
/// Linux still supports.
const UNITS_A_SECOND: i64 = 100;

#[derive(Debug, Default)]
struct Before {
    /// When this program began, as `/proc/PID/stat` counts time.
    units: i64,
    children: BTreeSet<i32>,
    /// Of those children, but for this process's own.
    sessions: BTreeSet<i32>,
}

impl Before {
    fn now() -> Self {
        let time = clock_gettime(ClockId::Boottime);
        let units = time.tv_sec * UNITS_A_SECOND + time.tv_nsec * UNITS_A_SECOND / 1_000_000_000;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        // Hardly anybody has children then, and to look through /proc takes longer than what most
        // commands do.
        if matches!(rustix::process::waitid(WaitId::All, options), Err(Errno::CHILD)) {
            return Self { units, ..Self::default() };
        }
        let (children, own) = (children(), session_of(0));
        let sessions = children.iter().filter_map(|pid| session_of(pid.as_raw_pid()));
        let sessions = sessions.filter(|&of| Some(of) != own).collect();
        Self { units, children: children.into_iter().map(Pid::as_raw_pid).collect(), sessions }
    }

    /// It was there before, or comes of what was: what outlives its parent becomes a child of this
    /// process.
    fn has(&self, pid: Pid) -> bool {
        let of_theirs = || session_of(pid.as_raw_pid()).is_some_and(|of| self.sessions.contains(&of));
        let earlier = || of(pid.as_raw_pid(), |stat| stat.began()).is_some_and(|began| began < self.units);
        self.children.contains(&pid.as_raw_pid()) || of_theirs() || earlier()
    }
}

/// Variable by which a child and its descendants are known, if they are marked.
const MARK: &str = "SWITCHCOST_CHILD";

/// How long what was killed may take to go. The kernel may be at work for it, or it may wait for a
/// process that only somebody else can reap.
pub(crate) const GOING: Duration = Duration::from_secs(2);

/// Looks for strays at the end of a program that cannot wait for them.
const MOST_GENERATIONS: usize = 50;

/// Between two looks at what is going. Nothing is measured then, so a short sleep does no harm.
const PAUSE: Duration = Duration::from_millis(2);

/// Readings of the list of children until two agree, at most.
const MOST_READINGS: usize = 4;

/// How long a stray may take to leave by itself. A probe that makes control groups has a guardian
/// which removes them once everybody else is gone; killed at once, it would leave them behind.
const GRACE: Duration = Duration::from_millis(400);

/// The same for one that is at work and only waits for a busy CPU or disk.
const GRACE_AT_WORK: Duration = Duration::from_secs(1);

/// The ids, locked.
pub(crate) fn live() -> MutexGuard<'static, BTreeSet<i32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn left() -> MutexGuard<'static, BTreeSet<i32>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reaps a child that has a handle and was killed: its wait status and usage. None: it does not
/// end, and is left.
///
/// # Errors
/// `ECHILD`: somebody else has reaped it, and how it ended cannot be learned.
pub(crate) fn release(pid: Pid) -> std::io::Result<Option<(i32, Usage)>> {
    let mut live = live();
    // Locked until the id is forgotten: once reaped, it may become that of the next child.
    let reaped = sys::reap_if_ended(pid.as_raw_pid());
    if matches!(reaped, Ok(None)) {
        left().insert(pid.as_raw_pid());
    }
    live.remove(&pid.as_raw_pid());
    reaped
}

/// See [`crate::spawn::adopt_orphans`].
pub(crate) fn adopt_orphans() {
    BEFORE.get_or_init(Before::now);
    let adopted = rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok();
    if adopted { &ADOPTING } else { &MARKING }.store(true, Ordering::Relaxed);
}

/// Could orphans be adopted?
pub(crate) fn adoption() -> std::io::Result<()> {
    Ok(rustix::process::child_subreaper().map(drop)?)
}

/// A variable for the environment of the next child, `NAME=value`, unlike any other; None: orphans
/// are known without it.
pub(crate) fn mark() -> Option<String> {
    let since = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    let own = rustix::process::getpid().as_raw_pid();
    (MARKING.load(Ordering::Relaxed) || is_init()).then(|| format!("{MARK}={own}-{since:x}"))
}

/// Is this the first process of a PID namespace, as in a container? It is also given the orphans of
/// those who came in from outside (`docker exec`).
fn is_init() -> bool {
    rustix::process::getpid() == Pid::INIT
}

/// A child of the first process that carries a mark of this program, or has ended and is to be
/// reaped, whoever it was.
fn is_given_by_ours(pid: Pid) -> bool {
    let own = format!("{MARK}={}-", rustix::process::getpid().as_raw_pid());
    has_ended(pid) || has_variable(pid, |variable| variable.starts_with(own.as_bytes()))
}

/// Of its environment when it began; a process that has ended has none any more.
fn has_variable(pid: Pid, is_it: impl Fn(&[u8]) -> bool) -> bool {
    let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_pid())).unwrap_or_default();
    environment.split(|&byte| byte == 0).any(is_it)
}

/// Kills whoever carries the mark outside the group of the child that had it first, and was killed
/// with its group. They are nobody's children here, so nobody can be waited for. Returns how many.
pub(crate) fn sweep_marked(mark: &str, group: Pid) -> u32 {
    let began = Instant::now();
    let mut seen = BTreeSet::new();
    while began.elapsed() < GRACE + GOING {
        let found = marked(mark, group);
        if found.is_empty() {
            break;
        }
        for &pid in found.iter().filter(|_| began.elapsed() >= GRACE) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        seen.extend(found.into_iter().map(Pid::as_raw_pid));
        std::thread::sleep(PAUSE);
    }
    seen.len() as u32
}

fn marked(mark: &str, group: Pid) -> Vec<Pid> {
    let carries = |pid: &Pid| has_variable(*pid, |variable| variable == mark.as_bytes());
    let elsewhere = |pid: &Pid| group_of(pid.as_raw_pid()).is_some_and(|of| of != group.as_raw_pid());
    processes().filter_map(Pid::from_raw).filter(|pid| carries(pid) && elsewhere(pid)).collect()
}

/// Does every end of a child sweep?
pub(crate) fn adopting() -> bool {
    ADOPTING.load(Ordering::Relaxed)
}

/// See [`crate::spawn::reap_strays`].
pub(crate) fn reap_strays() -> u32 {
    sweep().0
}

/// Kills a group and its leader, which may have moved to another one and is not reaped.
pub(crate) fn kill_group(leader: Pid) {
    let _ = rustix::process::kill_process_group(leader, Signal::KILL);
    let _ = rustix::process::kill_process(leader, Signal::KILL);
}

/// See [`crate::spawn::abandon`].
pub(crate) fn abandon() {
    // Kept to the end of the program, so that no other thread starts one, or reaps one and frees
    // its id.
    let live = std::mem::ManuallyDrop::new(live());
    let leaders: Vec<Pid> = live.iter().filter_map(|&pid| Pid::from_raw(pid)).collect();
    // Else nobody's strays are left; a browser that was opened is to stay.
    if leaders.is_empty() && SWEEPING.try_lock().is_ok() {
        return;
    }
    leaders.iter().copied().for_each(kill_group);
    all_ended_by(Instant::now() + GRACE, &leaders);
    // Who had left its group is a child of this process now, each generation after its parent.
    for _ in 0..MOST_GENERATIONS {
        let stray = |pid: &Pid| adopting() && is_stray(*pid, &live) && !has_ended(*pid);
        let strays: Vec<Pid> = children().into_iter().filter(stray).collect();
        if strays.is_empty() {
            break;
        }
        for pid in strays {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Kills strays and reaps those that end in time: how many there were, and what the reaped ones
/// used. It never waits for a single one: the first process of a PID namespace ends only after all
/// others in it have been reaped, and those may also be strays. Nothing is locked while it sleeps,
/// so that others can start children.
pub(crate) fn sweep() -> (u32, Usage) {
    // Two sweeps at once might kill by an id that the other has freed.
    let _one = SWEEPING.lock().unwrap_or_else(PoisonError::into_inner);
    left().retain(|&pid| matches!(sys::reap_if_ended(pid), Ok(None)));
    let (mut outlived, mut known, mut killed) = (BTreeSet::new(), BTreeSet::new(), false);
    let (mut usage, mut until) = (Usage::default(), None);
    // Again and again, since each kill may orphan the next generation.
    loop {
        let before = known.len();
        let strays = new_strays(&mut known);
        if strays.is_empty() {
            return (outlived.len() as u32, usage);
        }
        let until = *until.get_or_insert_with(|| {
            tolerate(&strays);
            Instant::now() + GOING
        });
        if Instant::now() >= until {
            left().extend(strays.iter().map(|pid| pid.as_raw_pid()));
            return (outlived.len() as u32, usage);
        }
        // Who leaves by itself in time is not a stray; whoever appears later was ended with those
        // that were killed.
        outlived.extend(strays.iter().filter(|pid| killed || !has_ended(**pid)).map(|pid| pid.as_raw_pid()));
        killed = true;
        // The youngest first: of a chain, each of which starts the next and ends, it is the one
        // that lives. A child of ours and not reaped, so the id is still its own.
        for &pid in strays.iter().rev() {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        // While further ones appear they are not given time to start the next.
        if known.len() == before {
            std::thread::sleep(PAUSE);
        }
        for pid in strays {
            if let Ok(Some((_, used))) = sys::reap_if_ended(pid.as_raw_pid()) {
                known.remove(&pid.as_raw_pid());
                usage = usage.plus(used);
            }
        }
    }
}

/// `known`: strays that were found before and not reaped. To find out what somebody is takes longer
/// than to be it.
fn new_strays(known: &mut BTreeSet<i32>) -> Vec<Pid> {
    // Nobody starts a child meanwhile, so that each has its entry.
    let (live, left) = (live(), left());
    let mut stray = |pid: &Pid| {
        let id = pid.as_raw_pid();
        !left.contains(&id) && (known.contains(&id) || (is_stray(*pid, &live) && known.insert(id)))
    };
    children().into_iter().filter(&mut stray).collect()
}

/// Those of these children of this process that a sweep would take for strays now.
pub(crate) fn only(children: impl Iterator<Item = i32>) -> BTreeSet<i32> {
    let live = live();
    let stray = |pid: &i32| adopting() && Pid::from_raw(*pid).is_some_and(|pid| is_stray(pid, &live));
    children.filter(stray).collect()
}

/// A child of this process that is reaped or waits for it.
fn has_ended(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(rustix::process::waitid(WaitId::Pid(pid), options), Ok(None))
}

/// Lets whom a child has left behind go by themselves, if it has ended: a runtime's helpers need a
/// moment to see that.
pub(crate) fn let_go(leader: Pid) {
    if has_ended(leader) {
        let strays = new_strays(&mut BTreeSet::new());
        tolerate(&strays);
    }
}

/// Sleeps until these children have left by themselves, or have had the time for it.
fn tolerate(strays: &[Pid]) {
    let began = Instant::now();
    let at_work = |pid: &Pid| !has_ended(*pid) && matches!(of(pid.as_raw_pid(), |stat| stat.state()), Some('R' | 'D'));
    loop {
        all_ended_by(began + GRACE.max(began.elapsed() + PAUSE), strays);
        if began.elapsed() >= GRACE_AT_WORK || !strays.iter().any(at_work) {
            return;
        }
    }
}

/// Sleeps until all these children have ended, or the time is reached. Reaps none.
pub(crate) fn all_ended_by(time: Instant, children: &[Pid]) {
    while !children.iter().all(|pid| has_ended(*pid)) && Instant::now() < time {
        std::thread::sleep(PAUSE);
    }
}

/// Living members of a group beside its leader, and living strays, once those have gone that were
/// about to.
pub(crate) fn left_behind(leader: Pid) -> usize {
    // On a busy machine a runtime's helper needs long to see that its runtime has gone.
    let until = Instant::now() + GOING;
    loop {
        let live = live();
        let member = |pid: &Pid| *pid != leader && group_of(pid.as_raw_pid()) == Some(leader.as_raw_pid());
        let mut others: BTreeSet<i32> = children()
            .into_iter()
            .filter(|&pid| is_stray(pid, &live))
            .chain(processes().filter_map(Pid::from_raw).filter(member))
            .map(Pid::as_raw_pid)
            .collect();
        drop(live);
        others.retain(|&pid| of(pid, |stat| Some(stat.has_ended())) == Some(false));
        if others.is_empty() || Instant::now() >= until {
            return others.len();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// One value of a process's `stat` file; None: there is no such process, or the file lacks the
/// value.
fn of<T>(pid: i32, ask: impl Fn(&Stat<'_>) -> Option<T>) -> Option<T> {
    let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    ask(&Stat::of(&String::from_utf8_lossy(&text))?)
}

fn is_stray(pid: Pid, live: &BTreeSet<i32>) -> bool {
    let Some(group) = group_of(pid.as_raw_pid()) else { return false };
    let of_ours = live.contains(&pid.as_raw_pid()) || live.contains(&group);
    let before = || BEFORE.get().is_some_and(|before| before.has(pid));
    Some(group) != group_of(0) && !of_ours && !before() && (!is_init() || is_given_by_ours(pid))
}

/// The process group of a process, of this one for 0. It is 0 for threads of the kernel and for
/// groups of another PID namespace, where `rustix` takes it for granted that there is one; None:
/// there is no such process.
fn group_of(pid: i32) -> Option<i32> {
    // SAFETY: getpgid(2) takes a number and touches no memory of ours.
    Some(unsafe { libc::getpgid(pid) }).filter(|group| *group >= 0)
}

/// The session of a process, likewise.
fn session_of(pid: i32) -> Option<i32> {
    // SAFETY: as for getpgid(2).
    Some(unsafe { libc::getsid(pid) }).filter(|session| *session >= 0)
}

/// Children of this process, zombies included: what it costs does not grow with the processes of
/// others, but for kernels that keep no such lists.
fn children() -> Vec<Pid> {
    // A list that changes while it is read may lack a child that was there all the time.
    let mut before = listed();
    for _ in 0..MOST_READINGS {
        let now = listed();
        if now == before {
            break;
        }
        before = now;
    }
    before.unwrap_or_else(scanned)
}

/// By the lists that the kernel keeps of each thread's children; None: it keeps none
/// (`CONFIG_PROC_CHILDREN`).
fn listed() -> Option<Vec<Pid>> {
    let own = rustix::process::getpid().as_raw_pid();
    std::fs::metadata(format!("/proc/self/task/{own}/children")).ok()?;
    let tasks = std::fs::read_dir("/proc/self/task").ok()?.flatten();
    // A thread that has ended meanwhile has left its children to another.
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let mut found: Vec<i32> = lists.flat_map(|list| numbers(&list)).collect();
    found.sort_unstable();
    Some(found.into_iter().filter_map(Pid::from_raw).collect())
}

fn numbers(list: &str) -> Vec<i32> {
    list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// By asking all processes for their parent.
fn scanned() -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_pid();
    processes().filter(|pid| of(*pid, |stat| stat.parent()) == Some(own)).filter_map(Pid::from_raw).collect()
}

fn processes() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_child_of_the_host_is_no_stray() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = Pid::from_raw(child.id() as i32).unwrap();
        assert!(children().contains(&pid) && scanned().contains(&pid));
        assert!(!is_stray(pid, &BTreeSet::new()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!children().contains(&pid) && !scanned().contains(&pid));
    }

    #[test]
    fn the_kernel_s_list_of_children_is_that_of_their_parents() {
        let mut zombie = std::process::Command::new("true").spawn().unwrap();
        let own = Pid::from_raw(zombie.id() as i32).unwrap();
        while !has_ended(own) {
            std::thread::sleep(PAUSE);
        }
        if let Some(listed) = listed() {
            assert!(listed.contains(&own), "{own:?} has ended and is not reaped: {listed:?}");
        }
        zombie.wait().unwrap();
    }
}
