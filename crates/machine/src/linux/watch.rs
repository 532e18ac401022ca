//! Counters of the machine before and after an invocation.

use super::cgroup::Cgroups;
use super::host::Host;
use super::sys;
use crate::watch::Change;
use std::collections::BTreeMap;
use std::path::PathBuf;
use switchcost_model::{Disturbance, Throttle};

/// `USER_HZ` is 100 on every architecture that Linux still supports (`getconf CLK_TCK`).
const NS_PER_TICK: u64 = 10_000_000;

/// One reading.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    steal_ns: Option<u64>,
    busy_ns: Option<u64>,
    precise: bool,
    host_ns: u64,
    throttled: BTreeMap<PathBuf, (u64, u64)>,
    /// By the file's name and the CPU.
    heat: BTreeMap<(&'static str, u32), String>,
    limits: BTreeMap<(&'static str, u32), String>,
}

impl Snapshot {
    /// Reads the counters of these CPUs.
    pub(crate) fn take(cpus: &[u32]) -> Self {
        Self::of(&Host::real(), cpus)
    }

    /// The same for any machine.
    pub(crate) fn of(host: &Host, cpus: &[u32]) -> Self {
        let groups = Cgroups::read(host);
        let stat = Stat::read(host);
        let precise = groups.usage_percpu(host).and_then(|file| percpu(&host.read(file).ok()?, cpus));
        // The host's own work disturbs too, but where it shares the probe's CPU there is no helping
        // it, and a mark on every invocation would say nothing.
        let host_is_there = super::allowed_cpus().is_ok_and(|own| own.iter().any(|cpu| cpus.contains(cpu)));
        Self {
            steal_ns: stat.sum(cpus, |times| times.steal),
            busy_ns: precise.or_else(|| stat.sum(cpus, |times| times.busy)),
            precise: precise.is_some(),
            host_ns: if host_is_there { sys::own_cpu_ns() } else { 0 },
            throttled: groups.throttled(host),
            heat: files(host, cpus, "thermal_throttle", &["core_throttle_count", "package_throttle_count"]),
            // The current frequency is left out: an idle CPU's reading is low before every
            // invocation, so that its change says nothing.
            limits: files(host, cpus, "cpufreq", &["scaling_governor", "scaling_min_freq", "scaling_max_freq"]),
        }
    }

    /// What happened since.
    pub(crate) fn since(&self, before: &Self) -> Change {
        let risen = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        let host_ns = self.host_ns.saturating_sub(before.host_ns);
        let mut always = Vec::new();
        // Of a group that it has come into meanwhile the earlier counts are those of others.
        let both = self.throttled.iter().filter_map(|(group, now)| Some((now, before.throttled.get(group)?)));
        let (times, ns) = both.fold((0, 0), |(times, ns), (now, then)| {
            (times + now.0.saturating_sub(then.0), ns + now.1.saturating_sub(then.1))
        });
        if times > 0 {
            always.push(Disturbance::Throttled(Throttle::Quota { times, ns }));
        }
        for (&(file, cpu), now) in &self.heat {
            let count = |text: &String| text.parse::<u64>().ok();
            let then = before.heat.get(&(file, cpu)).and_then(count);
            if let Some(times) = risen(count(now), then).filter(|times| *times > 0) {
                always.push(Disturbance::Throttled(Throttle::Heat { file: file.to_owned(), cpu, times }));
            }
        }
        for (&(file, cpu), now) in &self.limits {
            if let Some(then) = before.limits.get(&(file, cpu)).filter(|then| *then != now) {
                let (file, before, after) = (file.to_owned(), then.clone(), now.clone());
                always.push(Disturbance::Frequency { file, cpu, before, after });
            }
        }
        Change {
            steal_ns: risen(self.steal_ns, before.steal_ns),
            busy_ns: risen(self.busy_ns, before.busy_ns).map(|busy| busy.saturating_sub(host_ns)),
            precise: self.precise && before.precise,
            always,
        }
    }
}

/// CPU times of one CPU since boot, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub busy: u64,
    pub idle: u64,
    pub steal: u64,
}

/// `/proc/stat`.
#[derive(Debug, Default)]
pub(crate) struct Stat(BTreeMap<u32, Times>);

impl Stat {
    pub(crate) fn read(host: &Host) -> Self {
        Self::parse(&host.read("/proc/stat").unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let cpu = |line: &str| {
            let mut fields = line.strip_prefix("cpu")?.split_ascii_whitespace();
            let cpu: u32 = fields.next()?.parse().ok()?;
            let mut ticks = [0_u64; 8];
            for (tick, field) in ticks.iter_mut().zip(&mut fields) {
                *tick = field.parse().ok()?;
            }
            let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks.map(|tick| tick * NS_PER_TICK);
            Some((cpu, Times { busy: user + nice + system + irq + softirq, idle: idle + iowait, steal }))
        };
        let total_first = text.lines().filter(|line| !line.starts_with("cpu "));
        Self(total_first.filter_map(cpu).collect())
    }

    /// Sum over these CPUs; None when one of them is not listed.
    pub(crate) fn sum(&self, cpus: &[u32], of: impl Fn(&Times) -> u64) -> Option<u64> {
        cpus.iter().map(|cpu| self.0.get(cpu).map(&of)).sum()
    }

    /// Sum over every CPU.
    pub(crate) fn total(&self, of: impl Fn(&Times) -> u64) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.values().map(of).sum())
    }
}

/// Sum of the named CPUs of a list in which each possible CPU has its number.
pub(crate) fn percpu(text: &str, cpus: &[u32]) -> Option<u64> {
    let all: Vec<u64> = text.split_ascii_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
    cpus.iter().map(|&cpu| all.get(cpu as usize)).sum()
}

/// These files of each CPU.
fn files(host: &Host, cpus: &[u32], folder: &str, names: &[&'static str]) -> BTreeMap<(&'static str, u32), String> {
    let all = cpus.iter().flat_map(|&cpu| names.iter().map(move |&name| (name, cpu)));
    let read = |(name, cpu)| host.read(format!("/sys/devices/system/cpu/cpu{cpu}/{folder}/{name}"));
    all.filter_map(|at| Some((at, read(at).ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::facts::tests::tree;

    const STAT: &str = "cpu 300 0 0 0 0 0 0 9 0 0\ncpu0 100 0 0 0 0 0 0 4 0 0\ncpu1 200 1 2 7 8 3 4 5 0 0\nintr 1 2\n";

    #[test]
    fn stat_is_read_by_cpu() {
        let stat = Stat::parse(STAT);
        assert_eq!(stat.sum(&[1], |times| times.steal), Some(50_000_000));
        assert_eq!(stat.sum(&[0, 1], |times| times.busy), Some(3_100_000_000));
        assert_eq!(stat.sum(&[1], |times| times.idle), Some(150_000_000));
        assert_eq!(stat.sum(&[2], |times| times.steal), None);
        assert_eq!(percpu("5 7 \n", &[1]), Some(7));
        assert_eq!(percpu("5 7", &[2]), None);
    }

    /// Real-time children have the CPU to themselves, so that this holds on a machine that others
    /// use too. Needs root, and 40 s.
    #[test]
    #[ignore = "suite soak"]
    fn quiet_invocations_are_marked_by_neither_source() {
        // /proc is there, the control groups are not: the second source is /proc/stat.
        let coarse = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/proc", coarse.path().join("proc")).unwrap();
        let sources = [Host::real(), Host::fake(coarse.path())];
        let cpus = crate::cpus::Cpus::detect().unwrap();
        let here = [cpus.measured()];
        crate::cpus::pin_self(&[cpus.housekeeping().unwrap()]).unwrap();
        let mut marked = [0, 0];
        let mut largest = [0, 0];
        for _ in 0..200 {
            // The kernel lets real-time tasks have 95 % of each second and then lets others in for
            // 50 ms.
            std::thread::sleep(std::time::Duration::from_millis(20));
            let before = sources.each_ref().map(|host| Snapshot::of(host, &here));
            let began = std::time::Instant::now();
            let exit = crate::watch::tests::spinner(
                "chrt -f 50 sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done'",
                &here,
            );
            let wall = began.elapsed();
            for source in 0..2 {
                let change = Snapshot::of(&sources[source], &here).since(&before[source]);
                assert_eq!(change.precise, source == 0);
                let used = exit.used.unwrap().cpu_ns;
                largest[source] = largest[source].max(change.busy_ns.unwrap().saturating_sub(used) / 1_000_000);
                marked[source] += u32::from(!crate::watch::disturbances(&change, Some(used), wall, 1).is_empty());
            }
        }
        assert!(marked[0] < 4 && marked[1] < 4, "of 200 marked: {marked:?}; largest foreign time, ms: {largest:?}");
    }

    #[test]
    fn quota_heat_and_limits_are_seen() {
        let cpu = "sys/devices/system/cpu/cpu1";
        let files = |throttled: &str, heat: &str, max: &str| {
            tree(&[
                ("proc/stat", STAT),
                ("proc/self/cgroup", "0::/a\n"),
                ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
                ("sys/fs/cgroup/a/cpu.stat", throttled),
                (&format!("{cpu}/thermal_throttle/core_throttle_count"), heat),
                (&format!("{cpu}/cpufreq/scaling_max_freq"), max),
            ])
        };
        let (before, after) = (
            files("nr_throttled 3\nthrottled_usec 10\n", "1", "9"),
            files("nr_throttled 5\nthrottled_usec 50010\n", "3", "8"),
        );
        let (before, after) = (Host::fake(before.path()), Host::fake(after.path()));
        let change = Snapshot::of(&after, &[1]).since(&Snapshot::of(&before, &[1]));
        let (file, times) = ("core_throttle_count".to_owned(), 2);
        let quota = Disturbance::Throttled(Throttle::Quota { times, ns: 50_000_000 });
        let heat = Disturbance::Throttled(Throttle::Heat { file, cpu: 1, times });
        let (file, before_limit, after_limit) = ("scaling_max_freq".to_owned(), "9".to_owned(), "8".to_owned());
        let limit = Disturbance::Frequency { file, cpu: 1, before: before_limit, after: after_limit };
        assert_eq!(change.always, [quota, heat.clone(), limit.clone()]);
        assert!(!change.precise);
        // Of a group that tells nothing, or that it came into meanwhile, nothing rose.
        let before = Snapshot { throttled: BTreeMap::new(), ..Snapshot::of(&before, &[1]) };
        assert_eq!(Snapshot::of(&after, &[1]).since(&before).always, [heat, limit]);
    }
}
