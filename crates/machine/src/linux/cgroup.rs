//! The control groups this process is in.

use super::host::Host;
use crate::list;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Where the groups of this process lie.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cgroups {
    /// `v1`, `v2`, `hybrid` or `none`.
    pub version: &'static str,
    /// Directories from this process's cpu group up to the mounted root, own first, with the
    /// hierarchy's form.
    pub cpu: Option<Chain>,
    cpuset: Option<Chain>,
    cpuacct: Option<Chain>,
    /// The process sees the whole tree (initial cgroup namespace).
    pub whole_tree: bool,
}

/// A group and the groups it lies in.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    /// Version 2 of the hierarchy?
    pub v2: bool,
    /// Own group first, mounted root last.
    pub dirs: Vec<PathBuf>,
}

/// Inode of the initial cgroup namespace, fixed in the kernel (`PROC_CGROUP_INIT_INO`).
const INITIAL_NAMESPACE: &str = "cgroup:[4026531835]";

impl Cgroups {
    /// Reads `/proc/self/cgroup` and `/proc/self/mountinfo`.
    pub(crate) fn read(host: &Host) -> Self {
        let groups = host.read("/proc/self/cgroup").unwrap_or_default();
        let mounts = host.read("/proc/self/mountinfo").unwrap_or_default();
        let chain = |controller: &str| chain(controller, &groups, &mounts);
        let has_v1 = groups.lines().any(|line| !line.starts_with("0::") && !line.contains("name="));
        let has_v2 = groups.lines().any(|line| line.starts_with("0::"));
        Self {
            version: match (has_v1, has_v2) {
                (true, true) => "hybrid",
                (true, false) => "v1",
                (false, true) => "v2",
                (false, false) => "none",
            },
            cpu: chain("cpu"),
            cpuset: chain("cpuset"),
            cpuacct: chain("cpuacct"),
            whole_tree: host.link("/proc/self/ns/cgroup").as_deref() == Some(INITIAL_NAMESPACE),
        }
    }

    /// Groups with a cpu controller above this process, the root not counted: each makes a switch
    /// more expensive.
    pub(crate) fn depth(&self, host: &Host) -> Option<usize> {
        let chain = self.cpu.as_ref()?;
        let below_root = chain.dirs.len().saturating_sub(1);
        let scheduled = |dir: &&PathBuf| host.exists(dir.join(if chain.v2 { "cpu.weight" } else { "cpu.shares" }));
        Some(chain.dirs.iter().take(below_root).filter(scheduled).count())
    }

    /// The tightest quota of CPU time, in CPUs; None: no quota.
    pub(crate) fn quota(&self, host: &Host) -> Option<f64> {
        let chain = self.cpu.as_ref()?;
        let of = |dir: &PathBuf| {
            let (quota, period) = if chain.v2 {
                let text = host.read(dir.join("cpu.max")).ok()?;
                let (quota, period) = text.split_once(' ')?;
                (quota.to_owned(), period.to_owned())
            } else {
                (host.read(dir.join("cpu.cfs_quota_us")).ok()?, host.read(dir.join("cpu.cfs_period_us")).ok()?)
            };
            let (quota, period) = (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?);
            (quota > 0.0 && period > 0.0).then_some(quota / period)
        };
        chain.dirs.iter().filter_map(of).min_by(f64::total_cmp)
    }

    /// Time of real-time tasks that its own group has, µs; None: it is not counted by groups.
    pub(crate) fn rt_runtime(&self, host: &Host) -> Option<i64> {
        host.number(self.cpu.as_ref()?.dirs.first()?.join("cpu.rt_runtime_us").to_str()?).ok()
    }

    /// How often a quota has stopped each of this process's groups so far, and for how long, ns.
    /// Those that tell nothing are left out.
    pub(crate) fn throttled(&self, host: &Host) -> BTreeMap<PathBuf, (u64, u64)> {
        let dirs = self.cpu.iter().flat_map(|chain| &chain.dirs);
        let of = |dir: &PathBuf| {
            let text = host.read(dir.join("cpu.stat")).ok()?;
            let value = |name: &str| {
                let find = |line: &str| line.strip_prefix(name)?.trim().parse::<u64>().ok();
                text.lines().find_map(find).unwrap_or(0)
            };
            let ns = value("throttled_time ") + value("throttled_usec ") * 1000;
            Some((dir.clone(), (value("nr_throttled "), ns)))
        };
        dirs.filter_map(of).collect()
    }

    /// CPUs that the cpuset grants.
    pub(crate) fn cpuset(&self, host: &Host) -> Option<Vec<u32>> {
        let chain = self.cpuset.as_ref()?;
        let file = |name: &str| chain.dirs.iter().find_map(|dir| host.read(dir.join(name)).ok());
        let text = file(if chain.v2 { "cpuset.cpus.effective" } else { "cpuset.effective_cpus" })
            .or_else(|| file("cpuset.cpus"))?;
        list::parse(&text)
    }

    /// The file with every CPU's busy time in ns, if the machine's root group is visible
    /// (`release_agent` exists in it only): a container's own root would hide its neighbours.
    pub(crate) fn usage_percpu(&self, host: &Host) -> Option<PathBuf> {
        let chain = self.cpuacct.as_ref().filter(|chain| !chain.v2)?;
        let root = chain.dirs.last()?;
        let file = root.join("cpuacct.usage_percpu");
        (host.exists(root.join("release_agent")) && host.exists(&file)).then_some(file)
    }
}

/// The chain of the hierarchy that has this controller: its v1 hierarchy, else v2.
fn chain(controller: &str, groups: &str, mounts: &str) -> Option<Chain> {
    let own = |v2: bool| {
        groups.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            let hit = if v2 { line.starts_with("0::") } else { controllers.split(',').any(|c| c == controller) };
            hit.then_some(path)
        })
    };
    let (v2, path) = own(false).map(|path| (false, path)).or_else(|| own(true).map(|path| (true, path)))?;
    let (root, mount) = mounts.lines().find_map(|line| mounted(line, v2, controller))?;
    let below = path.strip_prefix(root.trim_end_matches('/')).unwrap_or("").trim_matches('/');
    let mut dirs = vec![PathBuf::from(mount)];
    for part in below.split('/').filter(|part| !part.is_empty() && *part != "..") {
        let dir = dirs[0].join(part);
        dirs.insert(0, dir);
    }
    Some(Chain { v2, dirs })
}

/// Root and mount point, if this line of mountinfo is the hierarchy looked for.
fn mounted<'a>(line: &'a str, v2: bool, controller: &str) -> Option<(&'a str, &'a str)> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    let (root, mount) = (before.next()?, before.next()?);
    let mut after = after.split(' ');
    let (kind, options) = (after.next()?, after.nth(1)?);
    let hit =
        if v2 { kind == "cgroup2" } else { kind == "cgroup" && options.split(',').any(|option| option == controller) };
    hit.then_some((root, mount))
}
