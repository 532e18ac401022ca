//! Descendants that escaped: found by their parent, killed, reaped.

use super::host::cause;
use super::sys::{self, Usage};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Ids of children that have a handle. Locked while one is started, so that a sweep never sees one without its entry.
static LIVE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
static ADOPTING: AtomicBool = AtomicBool::new(false);

/// Generations of escaped processes that a sweep follows; each kill may orphan the next generation.
const GENERATIONS: usize = 64;

/// How long a stray may take to leave by itself. A probe that makes control groups has a guardian which removes them once everybody else is
/// gone; killed at once, it would leave them behind.
const GRACE: Duration = Duration::from_millis(150);

/// The ids, locked.
pub(crate) fn live() -> MutexGuard<'static, BTreeSet<i32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// See [`crate::spawn::adopt_orphans`].
pub(crate) fn adopt_orphans() -> Result<(), String> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(|error| {
        format!("orphans of probes cannot be adopted (PR_SET_CHILD_SUBREAPER): {}", cause(&error.into()))
    })?;
    ADOPTING.store(true, Ordering::Relaxed);
    Ok(())
}

/// Does every end of a child sweep?
pub(crate) fn adopting() -> bool {
    ADOPTING.load(Ordering::Relaxed)
}

/// See [`crate::spawn::reap_strays`].
pub(crate) fn reap_strays() -> u32 {
    sweep().0
}

/// Kills and reaps strays: how many, and what they used.
pub(crate) fn sweep() -> (u32, Usage) {
    let live = live();
    let own_group = rustix::process::getpgrp();
    let mut count = 0;
    let mut usage = Usage::default();
    for generation in 0..GENERATIONS {
        let strays: Vec<Pid> = children().into_iter().filter(|&pid| is_stray(pid, own_group, &live)).collect();
        if strays.is_empty() {
            break;
        }
        if generation == 0 {
            wait_for_leavers(&strays);
        }
        for &pid in &strays {
            // A child of ours and not reaped, so the id is still its own.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        for pid in strays {
            if let Ok((_, used)) = sys::reap(pid.as_raw_pid()) {
                count += 1;
                usage = usage.plus(used);
            }
        }
    }
    (count, usage)
}

/// Until all have ended or the grace is over. Nothing is measured at this point, so a short sleep does no harm.
fn wait_for_leavers(strays: &[Pid]) {
    let until = Instant::now() + GRACE;
    let ended = |pid: &Pid| {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(rustix::process::waitid(WaitId::Pid(*pid), options), Ok(None))
    };
    while !strays.iter().all(ended) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn is_stray(pid: Pid, own_group: Pid, live: &BTreeSet<i32>) -> bool {
    let Ok(group) = rustix::process::getpgid(Some(pid)) else { return false };
    group != own_group && !live.contains(&pid.as_raw_pid()) && !live.contains(&group.as_raw_pid())
}

/// Children of this process, zombies included. `/proc/PID/task/TID/children` would be quicker, but many kernels are
/// built without it.
fn children() -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_pid();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| parent(*pid) == Some(own)).filter_map(Pid::from_raw).collect()
}

/// Parent of a process. The name in brackets may hold anything, brackets and spaces too: look from its end.
fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (_, after) = stat.rsplit_once(')')?;
    after.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_child_of_the_host_is_no_stray() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = Pid::from_raw(child.id() as i32).unwrap();
        assert!(children().contains(&pid));
        assert!(!is_stray(pid, rustix::process::getpgrp(), &BTreeSet::new()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!children().contains(&pid));
    }
}
