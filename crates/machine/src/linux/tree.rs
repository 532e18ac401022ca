//! One look at a child and all its descendants.

use super::host::Host;
use super::stat::Stat;
use super::{scheduling, strays, sys};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use switchcost_model::{NAMESPACES, TASKS_LOOKED_AT, TaskFacts, Tree};

/// Processes of which more is read than that they are there.
const MOST_PROCESSES: usize = 64;

/// Times that a ring of io_uring is looked at until it says whether it is polled.
const READINGS_OF_A_RING: usize = 4;

/// A process with at least one live task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: i32,
    tasks: u64,
}

/// Looks at the child and at what descends from it, orphans that this process has adopted among it.
/// `reported_pid`: the process id that the child gave. None: some of them ended meanwhile, so that
/// what was seen is no one moment's.
pub(crate) fn read(pid: i32, reported_pid: u64, hogs: &[i32]) -> Option<Tree> {
    let host = Host::real();
    let own = rustix::process::getpid().as_raw_pid();
    let mut family = family(&host, pid, own);
    family.retain(|process| !hogs.contains(&process.pid));
    (!family.is_empty()).then_some(())?;
    let near = &family[..family.len().min(MOST_PROCESSES)];
    let mut tree = Tree {
        tasks: family.iter().map(|process| process.tasks).sum(),
        processes: family.len() as u64,
        most_tasks: family.iter().map(|process| process.tasks).max()?,
        looked_at: near.len() as u64,
        address_spaces: address_spaces(near, &sys::compare_memory),
        namespaces: NAMESPACES.iter().filter_map(|kind| Some(((*kind).to_owned(), namespaces(near, kind)?))).collect(),
        control_groups: control_groups(&host, near),
        knows_pid: family.iter().any(|process| u64::from(process.pid.unsigned_abs()) == reported_pid),
        ..Tree::default()
    };
    let mut facts = read_tasks(&host, near, &mut tree)?;
    facts.files = files(&host, near);
    facts.resident_mib = resident_mib(&host, near);
    let (cpu_ns, page_faults) = used(&host, &family)?;
    tree.cpu_ns = tree.cpu_ns.max(cpu_ns);
    facts.page_faults = page_faults;
    tree.facts = Some(facts);
    let left = family.iter().filter_map(|old| Some(process(&host, old.pid)?.1.tasks >= old.tasks)).filter(|same| *same);
    (left.count() == family.len()).then_some(tree)
}

/// All tasks of the child and of what descends from it, but for its hogs: each with its process. Of
/// one that has ended and is not reaped its first task, which the kernel still tells of.
pub(crate) fn all_tasks(pid: i32, hogs: &[i32]) -> Vec<(i32, i32)> {
    let host = Host::real();
    let family = family(&host, pid, rustix::process::getpid().as_raw_pid());
    let own = family.iter().filter(|process| !hogs.contains(&process.pid));
    let all: Vec<(i32, i32)> =
        own.flat_map(|process| tasks(&host, process.pid).map(|task| (process.pid, task))).collect();
    if all.is_empty() { vec![(pid, pid)] } else { all }
}

/// CPU time of a process and of its reaped children, ns.
pub(crate) fn cpu_ns(host: &Host, pid: i32) -> Option<u64> {
    let stat = host.read(format!("/proc/{pid}/stat")).ok()?;
    let ticks = Stat::of(&stat)?.cpu_ticks_of_all()?;
    let by_ticks = ticks.saturating_mul(1_000_000_000 / rustix::param::clock_ticks_per_second());
    let exact = host.read(format!("/proc/{pid}/schedstat")).ok();
    let exact = exact.and_then(|text| text.split_ascii_whitespace().next()?.parse().ok());
    Some(by_ticks.max(exact.unwrap_or(0)))
}

/// Tasks created on this machine since it was booted; None where nobody counts them (gVisor says
/// 0).
pub(crate) fn tasks_created() -> Option<u64> {
    let stat = Host::real().read("/proc/stat").ok()?;
    let count = stat.lines().find_map(|line| line.strip_prefix("processes "))?.trim().parse().ok()?;
    (count > 0).then_some(count)
}

/// The child, what descends from it and the orphans, breadth first; empty if the child has ended.
///
/// Found by asking processes for their parent, but only those that are younger than the child:
/// their ids lie between its own and the last that was given out, the first being taken again after
/// the highest. (`/proc/PID/task/TID/children` would have to be read for every thread, and many
/// kernels are built without it.)
fn family(host: &Host, pid: i32, own: i32) -> Vec<Process> {
    let Some((_, child)) = process(host, pid) else { return Vec::new() };
    let listed = host.names("/proc");
    let last = last_pid(host);
    let younger = |other: i32| match last {
        Some(last) if pid <= last => other > pid && other <= last,
        Some(last) => other > pid || other <= last,
        None => true,
    };
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for other in listed.iter().filter_map(|name| name.parse().ok()).filter(|&other| other != pid && younger(other)) {
        if let Some((parent, process)) = process(host, other) {
            children.entry(parent).or_default().push(process);
        }
    }
    let adopted = children.remove(&own).unwrap_or_default();
    let orphans = strays::only(adopted.iter().map(|process| process.pid));
    let mut found = vec![child];
    found.extend(adopted.into_iter().filter(|process| orphans.contains(&process.pid)));
    let mut next = 0;
    while let Some(&Process { pid, .. }) = found.get(next) {
        found.extend(children.remove(&pid).unwrap_or_default());
        next += 1;
    }
    found
}

/// The process id given out last, by `/proc/loadavg`.
fn last_pid(host: &Host) -> Option<i32> {
    let text = host.read("/proc/loadavg").ok()?;
    text.split_ascii_whitespace().nth(4)?.parse().ok().filter(|&pid| pid > 0)
}

/// A process and its parent; None if it has ended, reaped or not. Read by its first task: the file
/// of the process as a whole adds up all threads.
fn process(host: &Host, pid: i32) -> Option<(i32, Process)> {
    let stat = host.read(format!("/proc/{pid}/task/{pid}/stat")).ok()?;
    let stat = Stat::of(&stat)?;
    let tasks = stat.threads()?;
    let ended = stat.has_ended() && tasks <= 1;
    (!ended).then_some((stat.parent()?, Process { pid, tasks }))
}

/// Ids of a process's tasks.
fn tasks(host: &Host, pid: i32) -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir(host.path(format!("/proc/{pid}/task"))).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Distinct address spaces, by comparing each with few of those that are known: the kernel orders
/// them. None: it does not compare them for us.
fn address_spaces(family: &[Process], compare: &dyn Fn(i32, i32) -> io::Result<Ordering>) -> Option<u64> {
    let mut known: Vec<i32> = Vec::new();
    for &Process { pid, .. } in family {
        loop {
            let mut fault = None;
            let place = known.binary_search_by(|other| match compare(*other, pid) {
                Ok(order) => order,
                Err(error) => {
                    fault = Some(error);
                    Ordering::Equal
                }
            });
            match (fault, place) {
                (None, Ok(_)) => {}
                (None, Err(at)) => known.insert(at, pid),
                (Some(error), _) if error.raw_os_error() != Some(libc::ESRCH) => return None,
                // One of the two has ended meanwhile. If it is the other, again without it.
                (Some(_), _) if compare(pid, pid).is_ok() => {
                    known.retain(|other| compare(*other, *other).is_ok());
                    continue;
                }
                (Some(_), _) => {}
            }
            break;
        }
    }
    Some(known.len() as u64)
}

/// Distinct namespaces of a kind; None where one of them may not be read, or where the kernel has
/// no such kind.
fn namespaces(family: &[Process], kind: &str) -> Option<u64> {
    let mut distinct = BTreeSet::new();
    for &Process { pid, .. } in family {
        match std::fs::read_link(format!("/proc/{pid}/ns/{kind}")) {
            Ok(name) => drop(distinct.insert(name)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {} // It has ended.
            Err(_) => return None,
        }
    }
    (!distinct.is_empty()).then_some(distinct.len() as u64)
}

/// Distinct sets of control groups; None where one of them cannot be read.
fn control_groups(host: &Host, family: &[Process]) -> Option<u64> {
    let mut distinct = BTreeSet::new();
    for &Process { pid, .. } in family {
        match host.read(format!("/proc/{pid}/cgroup")) {
            Ok(groups) => drop(distinct.insert(groups)),
            Err(_) if process(host, pid).is_none() => {} // It has ended.
            Err(_) => return None,
        }
    }
    distinct.remove(""); // A kernel without control groups, or a sandbox that hides them.
    (!distinct.is_empty()).then_some(distinct.len() as u64)
}

/// The kernel names a tracer by its thread.
pub(super) fn is_task_of(host: &Host, pid: i32, task: i32) -> bool {
    host.exists(format!("/proc/{pid}/task/{task}"))
}

/// CPUs, switches and set-up of the tasks. None: of a task that is there something cannot be read
/// that others would be accused of.
fn read_tasks(host: &Host, family: &[Process], tree: &mut Tree) -> Option<TaskFacts> {
    let mut allowed = BTreeSet::new();
    let mut ran_on = BTreeSet::new();
    let mut facts = TaskFacts::default();
    let (mut exact, mut strangers) = (0, Vec::new());
    let all = family.iter().flat_map(|process| tasks(host, process.pid).map(|task| (process.pid, task)));
    for (pid, task) in all.take(TASKS_LOOKED_AT) {
        let file = |name: &str| host.read(format!("/proc/{pid}/task/{task}/{name}")).ok();
        let status = match file("status") {
            Some(status) => status,
            None if host.exists(format!("/proc/{pid}/task/{task}")) => return None,
            None => continue, // It has ended.
        };
        let mut counts = 0;
        for (field, value) in status.lines().filter_map(|line| line.split_once(':')) {
            match field {
                "Cpus_allowed_list" => {
                    allowed.extend(crate::list::parse(value)?);
                    counts += 1;
                }
                "voluntary_ctxt_switches" | "nonvoluntary_ctxt_switches" => {
                    tree.switches += value.trim().parse::<u64>().ok()?;
                    counts += 1;
                }
                "TracerPid" => {
                    let tracer = value.trim().parse().unwrap_or(0);
                    // A probe may trace what it starts, by any thread: that is its own work.
                    let own = tracer != 0 && family.iter().any(|process| is_task_of(host, process.pid, tracer));
                    *facts.traced.get_or_insert(0) += u64::from(own);
                    strangers.extend((tracer != 0 && !own).then_some(tracer));
                }
                "Seccomp" => *facts.filtered.get_or_insert(0) += u64::from(value.trim() == "2"),
                "SpeculationIndirectBranch" => *facts.guarded.get_or_insert(0) += u64::from(value.contains("disabled")),
                _ => {}
            }
        }
        let schedule = file("schedstat").unwrap_or_default(); // Some kernels keep none.
        exact += schedule.split_ascii_whitespace().next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0);
        let stat = file("stat")?;
        let stat = Stat::of(&stat)?;
        ran_on.insert(stat.cpu()?);
        facts.tasks += 1;
        *facts.classes.entry(scheduling::word(stat.policy()?)).or_default() += 1;
        (counts == 3).then_some(())?;
    }
    facts.tracer = strangers.first().map(|tracer| host.process(&tracer.to_string()));
    tree.cpu_ns = exact;
    tree.allowed_cpus = allowed.into_iter().collect();
    tree.ran_on = ran_on.into_iter().collect();
    Some(facts)
}

/// Open files by kind, but for those whose other end is the host's: distinct ones where the kernel
/// numbers them, and of others the descriptors. None where those of a process may not be read.
fn files(host: &Host, family: &[Process]) -> Option<BTreeMap<String, u64>> {
    let links = |pid: i32| {
        let folder = std::fs::read_dir(host.path(format!("/proc/{pid}/fd")))?;
        let read = |entry: std::fs::DirEntry| Some((entry.path(), std::fs::read_link(entry.path()).ok()?));
        io::Result::Ok(folder.flatten().filter_map(read))
    };
    let own: BTreeSet<_> = links(rustix::process::getpid().as_raw_pid()).ok()?.map(|(_, link)| link).collect();
    let (mut kinds, mut known) = (BTreeMap::new(), BTreeSet::new());
    for &Process { pid, .. } in family {
        let open = match links(pid) {
            Ok(open) => open,
            Err(_) if process(host, pid).is_none() => continue, // It has ended.
            Err(_) => return None,
        };
        // All of them, a microsecond each: a ring of a thousand opens all of one kind first.
        for (file, link) in open {
            let name = link.to_string_lossy();
            let numbered = name.starts_with("pipe:") || name.starts_with("socket:");
            if numbered && (own.contains(&link) || !known.insert(link.clone())) {
                continue;
            }
            if let Some(kind) = file_kind(&name, &file) {
                *kinds.entry(kind.to_owned()).or_default() += 1;
            }
        }
    }
    Some(kinds)
}

/// What a descriptor leads to, if a rule can ask for it.
fn file_kind(link: &str, descriptor: &std::path::Path) -> Option<&'static str> {
    match link {
        "anon_inode:[eventfd]" => Some("eventfd"),
        "anon_inode:[eventpoll]" => Some("epoll"),
        "anon_inode:[io_uring]" => Some(if is_polled(descriptor) { "io_uring_sqpoll" } else { "io_uring" }),
        "anon_inode:[signalfd]" => Some("signalfd"),
        "anon_inode:[timerfd]" => Some("timerfd"),
        "anon_inode:[userfaultfd]" => Some("userfaultfd"),
        "anon_inode:seccomp notify" => Some("seccomp_notify"),
        "/dev/cpu_dma_latency" => Some("cpu_dma_latency"),
        _ if link.starts_with("pipe:") => Some("pipe"),
        _ if link.starts_with("socket:") => {
            let mut protocol = [0_u8; 32];
            let length = rustix::fs::getxattr(descriptor, "system.sockprotoname", &mut protocol[..]).ok()?;
            match protocol.get(..length)? {
                name if name.starts_with(b"UNIX") => Some("unix_socket"),
                name if name.starts_with(b"TCP") => Some("tcp_socket"),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A thread of the kernel looks for the requests of this ring of io_uring, as the kernel says.
fn is_polled(descriptor: &std::path::Path) -> bool {
    let Some((process, number)) = descriptor.to_str().and_then(|path| path.split_once("/fd/")) else { return false };
    let says = || {
        let info = std::fs::read_to_string(format!("{process}/fdinfo/{number}")).ok()?;
        info.lines().find_map(|line| line.strip_prefix("SqThread:")?.trim().parse::<i32>().ok())
    };
    // While that thread holds the ring's lock the kernel says nothing of it.
    (0..READINGS_OF_A_RING).any(|_| says().is_some_and(|thread| thread > 0))
}

/// What these processes have in memory (proc(5), statm).
fn resident_mib(host: &Host, family: &[Process]) -> Option<u64> {
    let pages = |process: &Process| {
        let statm = host.read(format!("/proc/{}/statm", process.pid)).ok()?;
        statm.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let all = family.iter().map(pages).try_fold(0_u64, |all, pages| Some(all.saturating_add(pages?)))?;
    Some(all.saturating_mul(rustix::param::page_size() as u64) >> 20)
}

/// CPU time (ns) and page faults of all these processes, with threads and children that have ended:
/// however many there are, what they used before the plan is charged to no batch.
fn used(host: &Host, family: &[Process]) -> Option<(u64, u64)> {
    family.iter().try_fold((0, 0), |(cpu, faults), process| {
        let stat = host.read(format!("/proc/{}/stat", process.pid)).ok()?;
        Some((cpu + cpu_ns(host, process.pid)?, faults + Stat::of(&stat)?.page_faults_of_all()?))
    })
}

#[cfg(test)]
mod tests;
