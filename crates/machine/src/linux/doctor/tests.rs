//! Findings of machines made of files.

use super::counters::Gap;
use super::*;
use crate::os::facts::tests::tree;
use crate::os::observers::observers;
use crate::watch::Watch;
use std::collections::BTreeSet;
use std::time::Duration;
use switchcost_model::{FindingText, Severity};

const FREE: &[(&str, &str)] = &[
    ("sys/devices/system/cpu/online", "0-1"),
    ("proc/self/status", "Cpus_allowed_list:\t0-1\nSeccomp:\t0\nCapEff:\t0\n"),
];

fn sizes() -> Sizes {
    Sizes {
        watched: Duration::from_millis(100),
        others_percent: Some(1.0),
        steal_percent: Some(0.0),
        steal_since_boot_percent: Some(0.1),
        longest_gap_us: Some(40.0),
        clock_read_ns: Some(25.0),
        clock_step_ns: Some(20.0),
        system_call_ns: Some(100.0),
        hop_same_us: Some(1.5),
        hop_apart_us: Some(3.0),
        core_mhz: Some(2600.0),
        stored_mhz: None,
        no_new_code: false,
        counters: Some(Gap { least: 0.0, most: 30.0 }),
    }
}

/// What one check says on such a machine.
fn find(id: &str, files: &[(&str, &str)], sizes: &Sizes) -> FindingText {
    let findings = found(files, sizes);
    findings.iter().find(|finding| finding.id == id).unwrap().text()
}

fn found(files: &[(&str, &str)], sizes: &Sizes) -> Vec<Finding> {
    let root = tree(&[FREE, files].concat());
    let findings = examined(&Host::fake(root.path()), sizes);
    sound(&findings);
    findings
}

fn examined(host: &Host, sizes: &Sizes) -> Vec<Finding> {
    let seen = observers(host).into_iter().map(|(name, seen)| (name.to_owned(), seen)).collect();
    examine(host, sizes, &seen)
}

/// What must hold of the findings of any machine.
fn sound(findings: &[Finding]) {
    let ids: BTreeSet<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(ids.len(), CHECKS.len(), "ids are not unique");
    for finding in findings {
        let FindingText { id, severity, what, effect, cure } = finding.text();
        assert!(!what.contains("no words for"), "a sentence of {finding:?} names a fact that is not there");
        assert!(!what.is_empty(), "{id} says nothing");
        assert_eq!(effect.is_empty(), severity == Severity::Fine, "{id}: effect");
        assert_eq!(cure.is_empty(), severity == Severity::Fine, "{id}: cure");
        assert!(
            ![&what, &effect, &cure].iter().any(|text| text.contains('\n') || text.contains("NaN")),
            "{id}: {what} {effect}"
        );
    }
}

/// Cases of the table that nothing in this folder makes: of other systems, of a session, and of
/// kept runs.
const ELSEWHERE: [&str; 6] =
    ["affinity.of_process", "autogroup.shared", "company.measured", "system.other", "system.windows", "wine.below"];

/// Files that make a case. What compiles has its case in the table; here each case of the table is
/// found, with the facts that its sentences name.
const MACHINES: &[&[(&str, &str)]] = &[
    &[],
    &[("proc/cpuinfo", "model name : VirtualApple\n")],
    &[("proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2"), (".dockerenv", "")],
    &[("proc/sys/kernel/osrelease", "4.4.0-19041-Microsoft")],
    &[
        ("sys/devices/system/cpu/online", "0"),
        ("proc/self/status", "Cpus_allowed_list:\t0\nSeccomp:\t2\nCapEff:\t000001ffffffffff\n"),
        ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"),
        ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "2600000"),
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
        ("proc/cpuinfo", "cpu MHz : 2600\nflags : constant_tsc nonstop_tsc\n"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"),
        ("proc/sys/kernel/sched_autogroup_enabled", "0"),
        ("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected"),
        ("dev/kvm", ""),
        ("proc/self/cgroup", "0::/\n"),
        ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("sys/fs/cgroup/cpu.weight", "100\n"),
        ("proc/self/limits", "Max processes 20000 x\nMax open files 20000 x\nMax stack size 1073741824 x\n"),
    ],
    &[
        ("proc/self/status", "Cpus_allowed_list:\t0\nCapEff:\t000001ffffffffff\n"),
        ("sys/devices/system/cpu/isolated", "1"),
        ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1"),
        ("sys/devices/system/cpu/cpu0/cpu_capacity", "1024"),
        ("sys/devices/system/cpu/cpu1/cpu_capacity", "400"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "800000"),
        ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "4000000"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1000000"),
        ("sys/kernel/sched_ext/state", "enabled"),
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "0"),
        ("proc/cpuinfo", "cpu MHz : 9000\nflags : fpu\n"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet"),
        ("proc/sys/kernel/sched_autogroup_enabled", "1"),
        ("sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI"),
        ("proc/sys/kernel/sched_rt_runtime_us", "0"),
        ("dev/kvm/folder", ""),
        ("proc/self/stat", "1 (x) R 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1"),
        ("proc/self/limits", "Max processes 500 x\nMax open files 500 x\nMax stack size 65536 x\n"),
    ],
    &[
        ("sys/devices/system/cpu/online", "0-3"),
        ("proc/self/status", "Cpus_allowed_list:\t2-3\nCapEff:\t000001ffffffffff\n"),
        ("proc/self/cgroup", "3:cpuset:/box\n1:cpu,cpuacct:/box\n"),
        (
            "proc/self/mountinfo",
            "31 23 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n30 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
        ),
        ("sys/fs/cgroup/cpuset/box/cpuset.effective_cpus", "2-3"),
        ("sys/fs/cgroup/cpu/box/cpu.rt_runtime_us", "0\n"),
        ("proc/sys/kernel/sched_rt_runtime_us", "950000"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave"),
        ("proc/self/stat", "1 (x) R 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 5 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"),
    ],
    &[
        ("proc/self/status", "Cpus_allowed_list:\t1\n"),
        ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave"),
        ("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "800000"),
        ("sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "4000000"),
        ("proc/sys/kernel/perf_event_paranoid", "2"),
        ("proc/self/cgroup", "0::/box\n"),
        ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("sys/fs/cgroup/box/cpu.max", "50000 100000\n"),
    ],
    &[
        ("proc/self/cgroup", "0::/box\n"),
        ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("sys/fs/cgroup/box/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/box/cpu.weight", "100\n"),
    ],
    &[
        ("proc/self/status", "Cpus_allowed_list:\t0-1\nTracerPid:\t0\n"),
        ("proc/1/fd/folder/file", ""),
        ("proc/modules", "ext4 1 2 - Live\n"),
        ("sys/kernel/debug/kprobes/list", ""),
        ("sys/kernel/tracing/events/enable", "0"),
        ("sys/kernel/tracing/set_event", ""),
    ],
];

#[test]
fn every_case_of_the_table_is_found_on_some_machine() {
    let busy = Sizes {
        others_percent: Some(12.0),
        steal_since_boot_percent: Some(2.0),
        hop_apart_us: Some(36.0),
        clock_step_ns: Some(4e6),
        stored_mhz: Some(9000.0),
        counters: Some(Gap { least: 200.0, most: 260.0 }),
        ..sizes()
    };
    let mut all = examined(&Host::fake(tree(&[]).path()), &Sizes::default());
    sound(&all);
    for files in MACHINES {
        all.extend([&sizes(), &busy, &Sizes::default()].into_iter().flat_map(|sizes| found(files, sizes)));
    }
    let held = tree(&[("proc/9/comm", "tuned"), ("proc/9/fdinfo/5", "")]);
    std::fs::create_dir_all(held.path().join("proc/9/fd")).unwrap();
    std::os::unix::fs::symlink("/dev/cpu_dma_latency", held.path().join("proc/9/fd/5")).unwrap();
    all.extend(examined(&Host::fake(held.path()), &sizes()));
    let outer = tree(&[("proc/1/status", "Seccomp:\t0\n")]);
    std::os::unix::fs::symlink("1", outer.path().join("proc/self")).unwrap();
    all.extend(examined(&Host::fake(outer.path()), &sizes()));
    let refused = std::io::ErrorKind::PermissionDenied;
    all.extend([rights::adopted(Ok(())), rights::adopted(Err(refused.into()))]);
    let made: BTreeSet<String> = all.iter().map(|finding| format!("{}.{}", finding.id, finding.case)).collect();
    let table = include_str!("../../../../../data/doctor.toml").lines();
    let table: BTreeSet<String> =
        table.filter_map(|line| Some(line.strip_prefix('[')?.strip_suffix(']')?.to_owned())).collect();
    let missing: Vec<&String> = table.difference(&made).collect();
    assert_eq!(missing, ELSEWHERE, "cases that no machine has");
    assert!(made.is_subset(&table));
}

#[test]
fn this_machine_and_an_empty_one_are_examined_soundly() {
    sound(&crate::doctor(Watch::allowed(), &crate::fingerprint(), None));
    let root = tree(&[]);
    sound(&examined(&Host::fake(root.path()), &Sizes::default()));
}

#[test]
fn wsl_is_a_warning() {
    let finding = find("wsl", &[("proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2")], &sizes());
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.what.contains("WSL 2"));
    let finding = find("hypervisor", &[("proc/sys/kernel/osrelease", "4.4.0-19041-Microsoft")], &sizes());
    assert!(finding.what.contains("WSL 1"));
}

#[test]
fn a_missing_counter_is_a_warning() {
    let finding = find("invariant_tsc", &[("proc/cpuinfo", "flags : fpu tsc\n")], &sizes());
    assert!(finding.severity == Severity::Warning && finding.what.contains("constant_tsc and nonstop_tsc"));
    let source = ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
    let finding = find("clock_source", &[source], &Sizes { clock_read_ns: Some(1300.0), ..sizes() });
    assert!(finding.severity == Severity::Warning && finding.effect.contains("1.30 µs"));
    assert_eq!(find("clock_step", &[], &Sizes { clock_step_ns: Some(4e6), ..sizes() }).severity, Severity::Warning);
    let apart = Sizes { counters: Some(Gap { least: 200.0, most: 260.0 }), ..sizes() };
    let finding = find("counters", &[], &apart);
    assert!(finding.severity == Severity::Warning && finding.what.contains("differ by 200 to 260 ns"), "{finding:?}");
    assert!(find("counters", &[], &sizes()).what.contains("agree within 30 ns"));
}

#[test]
fn a_governor_is_judged_by_the_clock_that_a_working_core_kept() {
    let cpu = "sys/devices/system/cpu/cpu1/cpufreq";
    let machine = |governor: &'static str, limit: &'static str, sizes: &Sizes| {
        let files = [
            (format!("{cpu}/scaling_governor"), governor),
            (format!("{cpu}/scaling_cur_freq"), "400000"), // An idle CPU's, which says nothing.
            (format!("{cpu}/cpuinfo_max_freq"), "2800000"),
            (format!("{cpu}/scaling_max_freq"), limit),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        find("governor", &files, sizes)
    };
    assert_eq!(machine("powersave", "2800000", &sizes()).severity, Severity::Fine);
    let slow = Sizes { core_mhz: Some(1400.0), ..sizes() };
    for governor in ["powersave", "performance"] {
        let finding = machine(governor, "2800000", &slow);
        assert!(finding.severity == Severity::Warning && finding.effect.contains("2.0 times"), "{finding:?}");
    }
    let finding = machine("performance", "1400000", &sizes());
    assert!(finding.severity == Severity::Warning && finding.what.contains("limited to 1.40 of 2.80"), "{finding:?}");
    assert_eq!(machine("powersave", "2800000", &Sizes::default()).severity, Severity::Note);
}

#[test]
fn a_quota_of_half_a_cpu_is_a_warning() {
    let files = [
        ("proc/self/cgroup", "0::/box\n"),
        ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("sys/fs/cgroup/box/cpu.max", "50000 100000\n"),
        ("sys/fs/cgroup/box/cpu.weight", "100\n"),
    ];
    let finding = find("cpu_quota", &files, &sizes());
    assert!(finding.severity == Severity::Warning && finding.what.contains("50 % of one CPU"), "{finding:?}");
    assert_eq!(find("cgroup_depth", &files, &sizes()).severity, Severity::Note);
}

#[test]
fn one_cpu_and_a_restriction_are_told_apart() {
    let one = [("sys/devices/system/cpu/online", "0"), ("proc/self/status", "Cpus_allowed_list:\t0\n")];
    assert_eq!(find("cpu_count", &one, &sizes()).severity, Severity::Warning);
    assert_eq!(find("affinity", &one, &sizes()).severity, Severity::Fine);
    let restricted = [("proc/self/status", "Cpus_allowed_list:\t1\n")];
    assert_eq!(find("affinity", &restricted, &sizes()).severity, Severity::Note);
}

#[test]
fn busy_neighbours_steal_and_sleeping_cpus_have_sizes() {
    let busy =
        Sizes { others_percent: Some(97.0), steal_since_boot_percent: Some(7.0), hop_apart_us: Some(36.0), ..sizes() };
    let finding = find("neighbours", &[], &busy);
    assert!(finding.severity == Severity::Warning && finding.what.contains("97 %"));
    assert_eq!(find("steal", &[], &busy).severity, Severity::Warning);
    let finding = find("idle_wakeup", &[("sys/module/haltpoll/parameters/guest_halt_poll_ns", "0")], &busy);
    assert!(finding.severity == Severity::Warning && finding.effect.contains("24 times"), "{finding:?}");
    assert!(finding.what.contains("guest_halt_poll_ns=0"));
    for id in ["neighbours", "steal", "idle_wakeup"] {
        assert_eq!(find(id, &[], &sizes()).severity, Severity::Fine, "{id}");
    }
}

#[test]
fn a_machine_without_proc_is_no_fine_one() {
    let root = tree(&[]);
    let findings = examined(&Host::fake(root.path()), &Sizes::default());
    let finding = findings.iter().find(|finding| finding.id == "proc").unwrap().text();
    assert!(finding.severity == Severity::Warning && finding.effect.contains("unobservable"), "{finding:?}");
    assert_eq!(find("proc", &[], &sizes()).severity, Severity::Fine);
}

#[test]
fn low_limits_say_what_they_limit() {
    let limits = "Limit                     Soft Limit           Hard Limit           Units\nMax processes             500                  unlimited            processes\nMax open files            1024                 4096                 files\n";
    let finding = find("file_limit", &[("proc/self/limits", limits)], &sizes());
    assert!(finding.effect.contains("about 496 contexts"), "{finding:?}");
    assert!(find("process_limit", &[("proc/self/limits", limits)], &sizes()).effect.contains("500"));
    let stack = [("proc/self/limits", "Max stack size            65536                unlimited            bytes\n")];
    let finding = find("session_limits", &stack, &sizes());
    assert_eq!(finding.what, "this session has tight limits: RLIMIT_STACK = 65536 (raise it with ulimit -s)");
    assert_eq!(find("realtime", &[], &sizes()).severity, Severity::Note);
    let root = [("proc/self/status", "Cpus_allowed_list:\t0-1\nCapEff:\t000001ffffffffff\n")];
    assert_eq!(find("realtime", &root, &sizes()).severity, Severity::Fine);
    let group = [
        root[0],
        ("proc/self/cgroup", "1:cpu,cpuacct:/box\n"),
        ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"),
        ("sys/fs/cgroup/cpu/box/cpu.rt_runtime_us", "0\n"),
    ];
    let with =
        |limit| find("realtime", &[&group[..], &[("proc/sys/kernel/sched_rt_runtime_us", limit)]].concat(), &sizes());
    assert!(with("950000").what.contains("cpu.rt_runtime_us=0"), "{:?}", with("950000"));
    assert!(with("0").what.contains("kernel.sched_rt_runtime_us=0"), "{:?}", with("0"));
    assert_eq!(with("-1").severity, Severity::Fine, "the kernel asks no group then");
    assert_eq!(find("perf_events", &root, &sizes()).severity, Severity::Fine);
}
