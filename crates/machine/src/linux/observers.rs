//! Who watches tasks, or takes part in how they are scheduled: tracers, tracing, probes of the
//! kernel, programs that hold perf events or BPF links, modules, another scheduler, checks of a
//! debug kernel.

use super::host::{Host, unknown};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use switchcost_model::{IDLE_REQUEST, KERNEL_CHECKS, LIVEPATCH, NOBODY, is_known};

/// Where tracefs is mounted, if it is.
pub(crate) const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Names that are listed of one kind.
const MOST_NAMES: usize = 4;

/// Processes whose open files are looked at: a machine with more is not worth the time.
const MOST_PROCESSES: usize = 1000;

/// Ancestors of this process that are checked for a tracer, at most.
const MOST_ANCESTORS: usize = 32;

/// Beginnings of the names of modules that hook into the scheduler or into system calls.
const MODULES: [&str; 6] = ["falco", "scap", "sysdig_probe", "lttng_", "stap_", "dtrace"];

/// Kinds of BPF links that run at tracepoints, at functions of the kernel, or in place of its
/// scheduler.
const LINKS: [&str; 6] = ["raw_tracepoint", "tracing", "perf_event", "kprobe_multi", "uprobe_multi", "struct_ops"];

/// Files of tracefs from which what was recorded is read.
const TRACE_PIPES: [&str; 2] = ["/trace_pipe", "/trace_pipe_raw"];

/// Files that a kernel has if it checks itself, and what that is called.
const CHECKS: [(&str, &str); 3] =
    [("/proc/lockdep", "lockdep"), ("/proc/lock_stat", "lock statistics"), ("/sys/kernel/debug/kmemleak", "kmemleak")];

/// Settings that count or check at each switch.
const SETTINGS: [&str; 3] = ["sched_schedstats", "latencytop", "stack_tracer_enabled"];

/// Options of a kernel's configuration that make each switch more expensive.
const OPTIONS: [&str; 5] =
    ["CONFIG_KASAN", "CONFIG_KCSAN", "CONFIG_KMSAN", "CONFIG_PROVE_LOCKING", "CONFIG_DEBUG_LOCK_ALLOC"];

/// Fact → who was seen, `none`, or why that is unknown. The first ones make a switch more
/// expensive, [`IDLE_REQUEST`] a wake-up cheaper.
pub(crate) fn observers(host: &Host) -> Vec<(&'static str, String)> {
    let Holders { perf, links, audit, latency, pipes } = holders(host);
    vec![
        ("observer.tracer", tracer(host)),
        ("observer.tracing", if pipes.is_empty() { tracing(host) } else { listed(pipes) }),
        ("observer.kprobes", kprobes(host)),
        ("observer.perf_events", perf),
        ("observer.bpf", links),
        ("observer.audit", audit),
        ("observer.modules", modules(host)),
        ("observer.scheduler", scheduler(host)),
        (LIVEPATCH, livepatch(host)),
        (KERNEL_CHECKS, kernel_checks(host)),
        (IDLE_REQUEST, latency),
    ]
}

/// Adds to the facts who came later than they were gathered.
pub(crate) fn came(host: &Host, drifting: &mut BTreeMap<String, String>) {
    for (name, now) in observers(host).into_iter().filter(|(_, now)| is_known(now) && now != NOBODY) {
        let before = drifting.entry(name.to_owned()).or_insert_with(|| NOBODY.to_owned());
        if !before.starts_with(&now) {
            let nobody = before == NOBODY || !is_known(before);
            *before = if nobody { format!("{now} (came later)") } else { format!("{before}; later {now}") };
        }
    }
}

/// A few of the names, and how many more there are.
fn listed(names: BTreeSet<String>) -> String {
    let more = names.len().saturating_sub(MOST_NAMES);
    let few: Vec<String> = names.into_iter().take(MOST_NAMES).collect();
    match (few.is_empty(), more) {
        (true, _) => NOBODY.to_owned(),
        (false, 0) => few.join(", "),
        (false, more) => format!("{} and {more} more", few.join(", ")),
    }
}

/// Who traces this process, and with it what it starts, or a process that it comes from.
fn tracer(host: &Host) -> String {
    let mut status = host.status();
    if !status.contains_key("TracerPid") {
        return unknown("/proc/self/status has no line `TracerPid`");
    }
    for _ in 0..MOST_ANCESTORS {
        match status.get("TracerPid").map(String::as_str) {
            Some("0") | None => {}
            Some(pid) => return host.process(pid),
        }
        let Some(parent) = status.get("PPid").filter(|parent| *parent != "0") else { break };
        status = host.status_of(parent);
    }
    NOBODY.to_owned()
}

/// Events that are recorded, and tracers that are set, in tracefs and its instances.
fn tracing(host: &Host) -> String {
    let Some(top) = TRACEFS.into_iter().find(|place| host.exists(format!("{place}/events"))) else {
        return unknown("tracefs is not mounted, or only root may read it");
    };
    let instances = host.names(&format!("{top}/instances")).into_iter().map(|name| format!("{top}/instances/{name}"));
    let mut seen = BTreeSet::new();
    for place in std::iter::once(top.to_owned()).chain(instances) {
        let events = match host.read(format!("{place}/set_event")) {
            Ok(events) => events,
            Err(reason) => return unknown(reason),
        };
        seen.extend(events.lines().map(str::to_owned));
        let current = host.read(format!("{place}/current_tracer")).unwrap_or_default();
        seen.extend((!current.is_empty() && current != "nop").then(|| format!("the {current} tracer")));
    }
    listed(seen)
}

/// Functions of the kernel that somebody probes.
fn kprobes(host: &Host) -> String {
    let list = match host.read("/sys/kernel/debug/kprobes/list") {
        Ok(list) => list,
        Err(reason) => return unknown(reason),
    };
    let enabled = list.lines().filter(|line| !line.contains("[DISABLED]"));
    listed(enabled.filter_map(|line| line.split_ascii_whitespace().nth(2).map(str::to_owned)).collect())
}

fn modules(host: &Host) -> String {
    let loaded = match host.read("/proc/modules") {
        Ok(loaded) => loaded,
        Err(_) if host.exists("/proc/self") => return NOBODY.to_owned(), // A kernel without modules.
        Err(reason) => return unknown(reason),
    };
    let names = loaded.lines().filter_map(|line| line.split_ascii_whitespace().next());
    listed(names.filter(|name| MODULES.iter().any(|known| name.starts_with(known))).map(str::to_owned).collect())
}

/// What schedules in place of the kernel's own classes (sched_ext).
fn scheduler(host: &Host) -> String {
    match host.read("/sys/kernel/sched_ext/state").as_deref() {
        Ok("enabled") => {
            let name = host.read("/sys/kernel/sched_ext/root/ops").unwrap_or_else(|_| "without a name".to_owned());
            format!("sched_ext {name}")
        }
        _ => NOBODY.to_owned(),
    }
}

fn livepatch(host: &Host) -> String {
    let folder = "/sys/kernel/livepatch";
    let enabled = |name: &String| host.read(format!("{folder}/{name}/enabled")).is_ok_and(|on| on == "1");
    listed(host.names(folder).into_iter().filter(enabled).collect())
}

/// What the kernel checks or counts at each switch, of its configuration and of its settings.
fn kernel_checks(host: &Host) -> String {
    let files = CHECKS.iter().filter(|(file, _)| host.exists(file)).map(|(_, name)| (*name).to_owned());
    let mut seen: BTreeSet<String> = files.collect();
    let set = |name: &&&str| host.number(&format!("/proc/sys/kernel/{name}")).is_ok_and(|value| value != 0);
    seen.extend(SETTINGS.iter().filter(set).map(|name| (*name).to_owned()));
    let release = host.read("/proc/sys/kernel/osrelease").unwrap_or_default();
    let configured = host.read(format!("/boot/config-{release}")).unwrap_or_default();
    let options = OPTIONS.iter().filter(|option| configured.lines().any(|line| line == format!("{option}=y")));
    seen.extend(options.map(|option| (*option).to_owned()));
    listed(seen)
}

/// Programs that hold perf events, BPF links and a request for idle CPUs, and whether system calls
/// are audited.
struct Holders {
    perf: String,
    links: String,
    audit: String,
    latency: String,
    /// Who reads what tracefs records, wherever that is mounted.
    pipes: BTreeSet<String>,
}

fn holders(host: &Host) -> Holders {
    let numbered = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    let processes: Vec<String> = host.names("/proc").into_iter().filter(numbered).collect();
    // Another of this program counts what it measures, and says itself that it measures (company).
    let program = |pid: &str| host.link(&format!("/proc/{pid}/exe"));
    let own = program("self");
    let [mut perf, mut links, mut audit, mut latency, mut pipes] = [(); 5].map(|()| BTreeSet::new());
    let mut unread = processes.is_empty() || processes.len() > MOST_PROCESSES;
    for pid in processes.iter().take(MOST_PROCESSES) {
        let folder = format!("/proc/{pid}/fd");
        // Read of those only that have a file which is looked for.
        let who = LazyCell::new(|| (own.is_none() || program(pid) != own).then(|| host.process(pid)));
        let Ok(files) = std::fs::read_dir(host.path(&folder)) else {
            // It may have ended, and hides nothing then.
            unread |= host.exists(format!("/proc/{pid}"));
            audit.extend(who.clone());
            continue;
        };
        for file in files.flatten().filter_map(|file| file.file_name().into_string().ok()) {
            let named = |what: &str| who.as_ref().map(|comm| format!("{comm} ({what})"));
            match host.link(&format!("{folder}/{file}")).as_deref() {
                Some("anon_inode:[perf_event]") => perf.extend(who.clone()),
                Some("/dev/cpu_dma_latency") => latency.extend(who.clone()),
                Some(file) if file.starts_with("socket:") => audit.extend(who.clone()),
                Some(file) if TRACE_PIPES.iter().any(|pipe| file.ends_with(pipe)) => {
                    pipes.extend(who.iter().map(|comm| format!("events, read by {comm}")));
                }
                Some("anon_inode:bpf-raw-tracepoint") => links.extend(named("raw_tracepoint")),
                Some("anon_inode:bpf_link" | "anon_inode:[bpf_link]") => {
                    let info = host.read(format!("/proc/{pid}/fdinfo/{file}")).unwrap_or_default();
                    let kind = info.lines().find_map(|line| line.strip_prefix("link_type:")).map(str::trim);
                    let watches = kind.is_none_or(|kind| LINKS.contains(&kind));
                    links.extend(named(kind.unwrap_or("a link")).filter(|_| watches));
                }
                _ => {}
            }
        }
    }
    // Its daemon has a socket.
    audit.retain(|comm| comm == "auditd");
    let named = |seen: BTreeSet<String>| match (seen.is_empty(), unread) {
        (true, true) => unknown("open files of other processes cannot be read, or there are too many"),
        _ => listed(seen),
    };
    Holders { perf: named(perf), links: named(links), audit: listed(audit), latency: named(latency), pipes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::facts::tests::tree;
    use std::os::unix::fs::symlink;

    fn facts(files: &[(&str, &str)], links: &[(&str, &str)]) -> std::collections::BTreeMap<&'static str, String> {
        let root = tree(files);
        for (file, target) in links {
            let file = root.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            symlink(target, file).unwrap();
        }
        observers(&Host::fake(root.path())).into_iter().collect()
    }

    #[test]
    fn a_quiet_machine_has_no_observer_and_says_what_it_cannot_know() {
        let quiet = facts(&[("proc/self/status", "TracerPid:\t0\n"), ("proc/1/fd/x/y", "")], &[]);
        assert_eq!((&*quiet["observer.tracer"], &*quiet["observer.bpf"]), ("none", "none"));
        assert!(quiet["observer.tracing"].starts_with("unknown: tracefs"), "{quiet:?}");
        let hidden = facts(&[("proc/self/status", ""), ("proc/1/comm", "auditd")], &[]);
        assert_eq!(hidden["observer.audit"], "auditd");
        for name in ["observer.perf_events", "observer.bpf", "observer.tracer", IDLE_REQUEST] {
            assert!(hidden[name].starts_with("unknown: "), "{name}: {hidden:?}");
        }
    }

    #[test]
    fn each_kind_of_observer_is_named() {
        let seen = facts(
            &[
                ("proc/self/status", "TracerPid:\t7\n"),
                ("proc/7/comm", "strace"),
                ("proc/8/comm", "bpftrace"),
                ("proc/8/fdinfo/5", "pos:\t0\nlink_type:\ttracing\n"),
                ("proc/9/comm", "router"),
                ("proc/9/fdinfo/5", "link_type:\txdp\n"),
                ("proc/10/comm", "auditd"),
                ("proc/11/comm", "auditor"),
                ("proc/modules", "falco 1 2 - Live\next4 1 2 - Live\n"),
                ("proc/sys/kernel/sched_schedstats", "1"),
                ("proc/sys/kernel/osrelease", "7"),
                ("boot/config-7", "CONFIG_KASAN=y\n# CONFIG_KCSAN is not set\n"),
                ("sys/kernel/sched_ext/state", "enabled"),
                ("sys/kernel/sched_ext/root/ops", "scx_rusty"),
                ("sys/kernel/livepatch/fix/enabled", "1"),
                ("sys/kernel/livepatch/old/enabled", "0"),
                ("sys/kernel/debug/kprobes/list", "c000 k schedule+0x0\nc001 k fork+0x0 [DISABLED]\n"),
                ("sys/kernel/tracing/events/enable", "X"),
                ("sys/kernel/tracing/set_event", ""),
                ("sys/kernel/tracing/current_tracer", "function"),
                ("sys/kernel/tracing/instances/agent/set_event", "sched:sched_switch\nsched:sched_waking\n"),
            ],
            &[
                ("proc/8/fd/5", "anon_inode:bpf_link"),
                ("proc/8/fd/6", "anon_inode:[perf_event]"),
                ("proc/9/fd/5", "anon_inode:bpf_link"),
                ("proc/9/fd/6", "/dev/cpu_dma_latency"),
                ("proc/10/fd/3", "socket:[7]"),
                ("proc/11/fd/3", "socket:[8]"),
            ],
        );
        let expected = [
            ("observer.tracer", "strace"),
            ("observer.tracing", "sched:sched_switch, sched:sched_waking, the function tracer"),
            ("observer.kprobes", "schedule+0x0"),
            ("observer.bpf", "bpftrace (tracing)"),
            ("observer.perf_events", "bpftrace"),
            ("observer.audit", "auditd"),
            ("observer.modules", "falco"),
            ("observer.scheduler", "sched_ext scx_rusty"),
            ("observer.livepatch", "fix"),
            ("observer.kernel_checks", "CONFIG_KASAN, sched_schedstats"),
            (IDLE_REQUEST, "router"),
        ];
        assert_eq!(seen, expected.map(|(name, value)| (name, value.to_owned())).into());
    }

    #[test]
    fn who_comes_later_is_added() {
        let root = tree(&[("proc/self/status", "TracerPid:\t7\n"), ("proc/7/comm", "strace")]);
        let later = |before: &str| {
            let mut facts = BTreeMap::from([("observer.tracer".to_owned(), before.to_owned())]);
            came(&Host::fake(root.path()), &mut facts);
            facts.remove("observer.tracer").unwrap()
        };
        for nobody in [NOBODY, "unknown: no line"] {
            assert_eq!(later(nobody), "strace (came later)");
        }
        assert_eq!([later("strace"), later(&later(NOBODY))], ["strace", "strace (came later)"]);
        assert_eq!(later("gdb"), "gdb; later strace");
    }

    #[test]
    fn who_traces_an_ancestor_or_reads_events_elsewhere_is_named() {
        let traced = facts(
            &[
                ("proc/self/status", "TracerPid:\t0\nPPid:\t5\n"),
                ("proc/5/status", "TracerPid:\t0\nPPid:\t4\n"),
                ("proc/4/status", "TracerPid:\t9\nPPid:\t1\n"),
                ("proc/9/comm", "gdb"),
                ("proc/8/comm", "trace-cmd"),
            ],
            &[("proc/8/fd/5", "/tmp/own/per_cpu/cpu0/trace_pipe_raw")],
        );
        assert_eq!((&*traced["observer.tracer"], &*traced["observer.tracing"]), ("gdb", "events, read by trace-cmd"));
    }

    #[test]
    fn another_of_this_program_is_no_observer() {
        let beside = |program: &str| {
            let files = [("proc/self/status", "TracerPid:\t0\n"), ("proc/8/comm", "switchcost")];
            let links = [
                ("proc/self/exe", "/bin/switchcost"),
                ("proc/8/exe", program),
                ("proc/8/fd/6", "anon_inode:[perf_event]"),
            ];
            facts(&files, &links)["observer.perf_events"].clone()
        };
        assert_eq!((beside("/bin/perf"), beside("/bin/switchcost")), ("switchcost".to_owned(), "none".to_owned()));
    }

    #[test]
    fn many_names_are_counted() {
        let names = ('a'..='f').map(String::from).collect();
        assert_eq!(listed(names), "a, b, c, d and 2 more");
    }
}
