//! What this process is locked into.

use super::Facts;
use crate::os::cgroup::Cgroups;
use crate::os::host::{Host, unknown};

pub(super) fn gather(host: &Host, facts: &mut Facts) {
    let groups = Cgroups::read(host);
    let read = host.read("/proc/self/cgroup");
    facts.put("cgroup.version", read.as_ref().map_or_else(unknown, |_| groups.version.to_owned()));
    let depth = match groups.depth(host) {
        None => unknown("no hierarchy with a cpu controller is mounted here"),
        Some(depth) if groups.whole_tree => depth.to_string(),
        Some(depth) => format!("at least {depth} (a cgroup namespace hides what lies above)"),
    };
    facts.put("cgroup.cpu_depth", depth);
    let quota = groups.quota(host);
    let told = || quota.map_or_else(|| "none".to_owned(), |cpus| format!("{cpus} CPUs"));
    facts.put("cgroup.cpu_quota", read.as_ref().map_or_else(unknown, |_| told()));
    let status = host.status();
    let seccomp = match status.get("Seccomp").map(String::as_str) {
        Some("0") => "none".to_owned(),
        Some("1") => "strict".to_owned(),
        Some("2") => format!("{} filters", status.get("Seccomp_filters").map_or("some", String::as_str)),
        _ => unknown("/proc/self/status has no line `Seccomp`"),
    };
    facts.put("security.seccomp", seccomp);
    let no_new_privileges = status.get("NoNewPrivs").map(|value| if value == "1" { "on" } else { "off" });
    let missing = || unknown("/proc/self/status has no line `NoNewPrivs`");
    facts.put("security.no_new_privileges", no_new_privileges.map_or_else(missing, str::to_owned));
    let speculation = status.get("Speculation_Store_Bypass").cloned();
    let missing = || unknown("/proc/self/status has no line `Speculation_Store_Bypass`");
    facts.put("security.speculative_store_bypass", speculation.unwrap_or_else(missing));
    facts.put("container", container(host));
}

/// Inode of the initial pid namespace, fixed in the kernel (`PROC_PID_INIT_INO`).
const INITIAL_PIDS: &str = "pid:[4026531836]";

/// The container this process is in, or `none seen`.
pub(crate) fn container(host: &Host) -> String {
    // The marker files below also lie in virtual machines whose disk was made from a container's
    // image. No container engine leaves a process in both initial namespaces.
    if Cgroups::read(host).whole_tree && host.link("/proc/self/ns/pid").as_deref() == Some(INITIAL_PIDS) {
        return "none seen".to_owned();
    }
    if host.exists("/.dockerenv") {
        return "docker".to_owned();
    }
    if let Ok(text) = host.read("/run/.containerenv") {
        let engine = text.lines().find_map(|line| line.strip_prefix("engine=")).unwrap_or("podman");
        return engine.trim_matches('"').split('-').next().unwrap_or("podman").to_owned();
    }
    if let Ok(name) = host.read("/run/systemd/container")
        && !name.is_empty()
    {
        return name;
    }
    let groups = host.read("/proc/self/cgroup").unwrap_or_default();
    let known = ["kubepods", "docker", "containerd", "libpod", "lxc", "garden"];
    known.into_iter().find(|name| groups.contains(name)).unwrap_or("none seen").to_owned()
}
