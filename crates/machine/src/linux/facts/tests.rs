//! Facts of machines made of files.

use super::*;
use tempfile::TempDir;

/// A tree of files.
pub(crate) fn tree(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}

fn live() -> Live {
    Live {
        page_size: 4096,
        hz: Some(250),
        libc: "glibc 2.36".to_owned(),
        executable: true,
        tsc_hz: None,
        core_mhz: None,
    }
}

fn machine(files: &[(&str, &str)]) -> Machine {
    let root = tree(files);
    gather(&Host::fake(root.path()), &live())
}

#[test]
fn an_empty_machine_has_every_fact_with_a_reason() {
    let machine = machine(&[]);
    for (name, value) in machine.stable.iter().chain(&machine.drifting).chain(&machine.personal) {
        assert!(!value.is_empty(), "{name}");
    }
    assert!(machine.stable["cpu.vendor"].starts_with("unknown: "));
    assert!(machine.stable["clock.source"].contains("no such file"));
    assert!(machine.stable["vulnerability.all"].starts_with("unknown: "));
    assert!(machine.stable.len() > 35 && machine.drifting.len() >= 10);
}

#[test]
fn every_fact_of_the_key_exists() {
    let machine = machine(&[]);
    for fact in switchcost_model::HARDWARE_FACTS.iter().chain(switchcost_model::SOFTWARE_FACTS) {
        let there =
            machine.stable.keys().any(|name| if fact.ends_with('.') { name.starts_with(fact) } else { name == fact });
        assert!(there, "{fact} is in the key, but no fact");
    }
}

#[test]
fn the_real_machine_has_a_steady_key() {
    let first = crate::fingerprint();
    assert_eq!(first.key(), crate::fingerprint().key());
    assert_eq!(first.stable, crate::fingerprint().stable);
    assert_eq!(first.key().len(), 16);
    assert!(!first.stable["kernel.release"].starts_with("unknown"));
}

#[test]
fn identity_topology_and_caches_are_read() {
    let cpu = |n: u32, file: &str| format!("sys/devices/system/cpu/cpu{n}/{file}");
    let mut files = vec![
        (
            "proc/cpuinfo".to_owned(),
            "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: X\nstepping\t: 2\nflags\t\t: fpu tsc constant_tsc hypervisor\n\nvendor_id : no\n",
        ),
        ("sys/devices/system/cpu/online".to_owned(), "0-3"),
        (cpu(0, "cache/index0/level"), "1"),
        (cpu(0, "cache/index0/type"), "Data"),
        (cpu(0, "cache/index0/size"), "48K"),
        (cpu(0, "cache/index0/shared_cpu_list"), "0,2"),
    ];
    for n in 0..4 {
        files.push((cpu(n, "topology/thread_siblings_list"), if n % 2 == 0 { "0,2" } else { "1,3" }));
        files.push((cpu(n, "topology/physical_package_id"), "0"));
        files.push((cpu(n, "cpu_capacity"), if n % 2 == 0 { "1024" } else { "600" }));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let machine = machine(&files);
    let fact = |name: &str| machine.stable[name].as_str();
    assert_eq!((fact("cpu.model"), fact("cpu.cores"), fact("cpu.threads_per_core")), ("207", "2", "2"));
    assert_eq!((fact("cpu.logical"), fact("cpu.sockets")), ("4", "1"));
    assert_eq!(fact("cache.l1d"), "48K, 2 CPUs");
    assert_eq!(fact("clock.tsc_flags"), "tsc constant_tsc");
    assert_eq!(fact("cpu.capacities"), "1024, 600");
    assert_eq!(fact("hypervisor"), "a hypervisor without a name");
    assert!(fact("cache.l3").starts_with("unknown"));
}

#[test]
fn hypervisors_are_told_apart() {
    let named = |files: &[(&str, &str)]| machine(files).stable["hypervisor"].clone();
    assert_eq!(named(&[]), "none");
    assert_eq!(named(&[("proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2")]), "WSL 2 (Hyper-V)");
    assert_eq!(named(&[("proc/sys/kernel/osrelease", "4.4.0-19041-Microsoft")]), "WSL 1");
    assert_eq!(named(&[("sys/hypervisor/type", "xen")]), "Xen");
    assert_eq!(named(&[("sys/class/dmi/id/sys_vendor", "QEMU")]), "QEMU");
    assert_eq!(
        named(&[("sys/class/dmi/id/sys_vendor", "Amazon EC2"), ("sys/class/dmi/id/product_name", "c7g.metal")]),
        "none"
    );
}

#[test]
fn a_processor_of_another_architecture_is_a_translation() {
    let own = if cfg!(target_arch = "x86_64") { "vendor_id : X\nflags : fpu\n" } else { "CPU implementer : 0x41\n" };
    let other = if cfg!(target_arch = "x86_64") { "CPU implementer : 0x61\n" } else { "vendor_id : X\nflags : fpu\n" };
    let below = |text: &str| machine(&[("proc/cpuinfo", text)]).stable["cpu.translated"].clone();
    assert_eq!([below(""), below(own)], ["none", "none"]);
    assert_ne!(below(other), "none");
    assert_eq!(below("model name : VirtualApple @ 2.50GHz processor\nflags : fpu\n"), "VirtualApple");
    let named = machine(&[("proc/cpuinfo", other)]).stable["cpu.model_name"].clone();
    assert!(named.ends_with("processor, translated"), "{named}");
}

#[test]
fn the_preemption_model_is_the_one_in_force() {
    let mode = |text: &str| machine(&[("sys/kernel/debug/sched/preempt", text)]).stable["kernel.preempt_mode"].clone();
    assert_eq!(mode("none voluntary full (lazy)\n"), "lazy");
    assert_eq!(mode("odd"), "odd");
}

#[test]
fn a_left_over_marker_is_no_container() {
    let root = tree(&[(".dockerenv", ""), ("proc/self/cgroup", "0::/\n")]);
    let host = Host::fake(root.path());
    assert_eq!(container(&host), "docker");
    let namespaces = root.path().join("proc/self/ns");
    std::fs::create_dir_all(&namespaces).unwrap();
    std::os::unix::fs::symlink("cgroup:[4026531835]", namespaces.join("cgroup")).unwrap();
    assert_eq!(container(&host), "docker");
    std::os::unix::fs::symlink("pid:[4026531836]", namespaces.join("pid")).unwrap();
    assert_eq!(container(&host), "none seen");
}

#[test]
fn control_groups_of_both_versions() {
    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
    const V1: &str = "31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
    let machine_v2 = machine(&[
        ("proc/self/cgroup", "0::/user.slice/run.scope\n"),
        ("proc/self/mountinfo", V2),
        ("sys/fs/cgroup/user.slice/cpu.weight", "100"),
        ("sys/fs/cgroup/user.slice/cpu.max", "50000 100000"),
        ("sys/fs/cgroup/user.slice/run.scope/cpu.max", "max 100000"),
    ]);
    assert_eq!(machine_v2.stable["cgroup.version"], "v2");
    assert_eq!(machine_v2.stable["cgroup.cpu_quota"], "0.5 CPUs");
    assert_eq!(machine_v2.stable["cgroup.cpu_depth"], "at least 1 (a cgroup namespace hides what lies above)");
    let machine_v1 = machine(&[
        ("proc/self/cgroup", "4:memory:/x\n1:cpu:/a/b\n0::/\n"),
        ("proc/self/mountinfo", V1),
        ("sys/fs/cgroup/cpu/a/cpu.shares", "1024"),
        ("sys/fs/cgroup/cpu/a/b/cpu.shares", "1024"),
        ("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1"),
        ("sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000"),
    ]);
    assert_eq!(machine_v1.stable["cgroup.version"], "hybrid");
    assert_eq!(machine_v1.stable["cgroup.cpu_quota"], "none");
    assert!(machine_v1.stable["cgroup.cpu_depth"].starts_with("at least 2"));
}

#[test]
fn a_fixed_restriction_names_its_cause() {
    use crate::os::cpus::restriction_on;
    let root = tree(&[
        ("proc/self/cgroup", "3:cpuset:/box\n"),
        ("proc/self/mountinfo", "31 23 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"),
        ("sys/fs/cgroup/cpuset/box/cpuset.effective_cpus", "2-3"),
        ("sys/devices/system/cpu/isolated", "7"),
    ]);
    let host = Host::fake(root.path());
    assert_eq!(restriction_on(&host, &[0, 1], &[0, 1]), None);
    let why = |allowed: &[u32], online: &[u32]| restriction_on(&host, allowed, online).unwrap().text().what;
    assert!(why(&[2, 3], &[0, 1, 2, 3]).contains("cpuset allows only CPU 2-3 of 0-3"));
    assert!(why(&[3], &[2, 3]).contains("taskset"));
    assert!(why(&[3], &[3, 7]).contains("CPU 3 of 3,7"));
}
