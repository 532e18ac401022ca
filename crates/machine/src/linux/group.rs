//! Control groups of other programs: a service and a container are one each.

use super::host::Host;
use crate::program::{ProgramError, Service};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Folders within folders that are looked through.
const DEEPEST: usize = 16;

/// Digits of an id that are enough to name a container.
const ID_DIGITS: usize = 12;

/// Folders in which Docker keeps a folder for each container, named by its id.
const DOCKER: &str = "/var/lib/docker/containers";

/// Where Podman lists its containers, below the folder of root's and of the user's data.
const PODMAN: &str = "containers/storage/overlay-containers/containers.json";

/// Where nerdctl keeps the names of containerd's containers: ADDRESS/names/NAMESPACE/NAME holds the
/// id.
const NERDCTL: &str = "/var/lib/nerdctl";

/// A control group, by one of its folders: each hierarchy has its own.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    dir: PathBuf,
    /// What people call it.
    pub name: String,
}

impl Group {
    /// Finds it.
    pub(crate) fn find(host: &Host, service: &Service) -> Result<Self, ProgramError> {
        let mounts = mounts(host);
        if mounts.is_empty() {
            return Err(ProgramError::Unsupported("no hierarchy of control groups is mounted here".into()));
        }
        let not_found = |reason: &str| Err(ProgramError::NoGroup(service.to_string(), reason.to_owned()));
        let group = |dir: &Path, name: &str| Ok(Self { dir: dir.to_owned(), name: name.to_owned() });
        let used = |dir: &PathBuf| !processes(host, dir).is_empty();
        let wanted: Vec<String> = match service {
            Service::Cgroup(path) => {
                let below = path.trim_start_matches('/');
                // As it lies in the file system, or as /proc/PID/cgroup says it.
                let here = std::iter::once(PathBuf::from(path)).chain(mounts.iter().map(|mount| mount.join(below)));
                let groups: Vec<PathBuf> =
                    here.filter(|dir| dir.is_absolute() && host.exists(dir.join("cgroup.procs"))).collect();
                return match groups.iter().find(|dir| used(dir)) {
                    Some(dir) => group(dir, path),
                    None if groups.is_empty() => {
                        not_found("it is not a control group; `cat /proc/PID/cgroup` shows a program's")
                    }
                    None => not_found("no process is in it, or in a group below it"),
                };
            }
            Service::Unit(name) if name.contains('.') => vec![name.clone()],
            Service::Unit(name) => vec![format!("{name}.service")],
            Service::Container(name) => ids_of(host, name).into_iter().chain([name.clone()]).collect(),
        };
        let container = matches!(service, Service::Container(_));
        let is_called = |dir: &Path| {
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            wanted.iter().any(|wanted| if container { is_container(&name, wanted) } else { name == *wanted })
        };
        let found = mounts.iter().map(|mount| {
            let mut here: Vec<PathBuf> = Vec::new();
            for dir in with_below(host, mount, DEEPEST) {
                // What lies in one of them belongs to it.
                if is_called(&dir) && !here.iter().any(|outer| dir.starts_with(outer)) && used(&dir) {
                    here.push(dir);
                }
            }
            here
        });
        // The hierarchies have one group each of the same name.
        match &found.into_iter().find(|here| !here.is_empty()).unwrap_or_default()[..] {
            [dir] => group(dir, service.name()),
            [] if container => {
                not_found("no running container is called so; `docker ps` or `podman ps` lists names and ids")
            }
            [] => not_found("no running unit is called so; `systemctl list-units --state=running` lists them"),
            several => {
                let all = several.iter().map(|dir| dir.display().to_string()).collect::<Vec<_>>().join(", ");
                not_found(&format!("{} groups are called so ({all}); name one by --cgroup", several.len()))
            }
        }
    }

    /// Its processes, and those of the groups below it.
    pub(crate) fn processes(&self, host: &Host) -> Vec<u32> {
        processes(host, &self.dir)
    }

    /// CPU time that it has used so far, with what came and went, ns; None: its hierarchy does not
    /// count it.
    pub(crate) fn cpu_ns(&self, host: &Host) -> Option<u64> {
        let of = |line: &str| line.strip_prefix("usage_usec ")?.trim().parse::<u64>().ok();
        let usage = |text: String| text.lines().find_map(of).map(|microseconds| microseconds * 1000);
        let second = || host.read(self.dir.join("cpuacct.usage")).ok()?.parse().ok();
        host.read(self.dir.join("cpu.stat")).ok().and_then(usage).or_else(second)
    }
}

/// Where hierarchies are mounted: of the second version, then of the first with systemd's before
/// the rest.
fn mounts(host: &Host) -> Vec<PathBuf> {
    let text = host.read("/proc/self/mountinfo").unwrap_or_default();
    let mut found: Vec<(u32, PathBuf)> = text
        .lines()
        .filter_map(|line| {
            let (before, after) = line.split_once(" - ")?;
            let rank = match after.split(' ').next()? {
                "cgroup2" => 0,
                "cgroup" if after.contains("name=systemd") => 1,
                // It counts the CPU time.
                "cgroup" if after.contains("cpuacct") => 2,
                "cgroup" => 3,
                _ => return None,
            };
            Some((rank, PathBuf::from(before.split(' ').nth(4)?)))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, mount)| mount).collect()
}

/// Of a group and of those below it.
fn processes(host: &Host, dir: &Path) -> Vec<u32> {
    let texts = with_below(host, dir, DEEPEST).into_iter().filter_map(|dir| host.read(dir.join("cgroup.procs")).ok());
    let ids = |text: String| text.lines().filter_map(|line| line.parse().ok()).collect::<Vec<u32>>();
    texts.flat_map(ids).filter(|pid| *pid > 0).collect()
}

/// A folder, and then those in it.
fn with_below(host: &Host, dir: &Path, deep: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(host.path(dir)).into_iter().flatten().flatten().filter(|_| deep > 0);
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let inner = folders.flat_map(|entry| with_below(host, &dir.join(entry.file_name()), deep - 1));
    std::iter::once(dir.to_owned()).chain(inner).collect()
}

/// A folder as runtimes call it: NAME, RUNTIME-ID.scope, or ID alone, of which the first digits are
/// enough.
fn is_container(folder: &str, wanted: &str) -> bool {
    // Podman's monitor has a group beside its container's.
    if folder.contains("conmon") {
        return false;
    }
    let bare = folder.strip_suffix(".scope").unwrap_or(folder);
    let id = bare.rsplit('-').next().unwrap_or(bare);
    let is_id = wanted.len() >= ID_DIGITS && wanted.bytes().all(|digit| digit.is_ascii_hexdigit());
    bare == wanted || bare.ends_with(&format!("-{wanted}")) || is_id && id.starts_with(wanted)
}

/// Ids of the containers that are called so, as Docker, Podman and nerdctl keep them in files.
fn ids_of(host: &Host, name: &str) -> Vec<String> {
    let parsed = |path: &Path| serde_json::from_str::<Value>(&host.read(path).ok()?).ok();
    let docker = host.names(DOCKER).into_iter().filter(|id| {
        let config = parsed(&Path::new(DOCKER).join(id).join("config.v2.json"));
        config.is_some_and(|config| config["Name"].as_str().is_some_and(|own| own.trim_start_matches('/') == name))
    });
    let mut ids: Vec<String> = docker.collect();
    for data in [Some(PathBuf::from("/var/lib")), crate::data_home(), home_data()].into_iter().flatten() {
        for one in parsed(&data.join(PODMAN)).as_ref().and_then(Value::as_array).into_iter().flatten() {
            let is_called = one["names"].as_array().is_some_and(|names| names.iter().any(|own| own == name));
            ids.extend(one["id"].as_str().filter(|_| is_called).map(str::to_owned));
        }
    }
    for address in host.names(NERDCTL) {
        let names = Path::new(NERDCTL).join(address).join("names");
        for namespace in host.names(&names.display().to_string()) {
            ids.extend(host.read(names.join(namespace).join(name)).ok());
        }
    }
    ids
}

fn home_data() -> Option<PathBuf> {
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::facts::tests::tree;

    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn found(files: &[(&str, &str)], service: &Service) -> Result<(Vec<u32>, Option<u64>), String> {
        let files = tree(&[&[("proc/self/mountinfo", V2)], files].concat());
        let host = Host::fake(files.path());
        let group = Group::find(&host, service).map_err(|error| error.to_string())?;
        Ok((group.processes(&host), group.cpu_ns(&host)))
    }

    #[test]
    fn a_unit_has_the_processes_of_all_its_groups() {
        let files = [
            ("sys/fs/cgroup/system.slice/nginx.service/cgroup.procs", "7\n8\n"),
            ("sys/fs/cgroup/system.slice/nginx.service/cpu.stat", "usage_usec 5\nuser_usec 3\n"),
            ("sys/fs/cgroup/system.slice/nginx.service/worker/cgroup.procs", "9\n"),
            ("sys/fs/cgroup/system.slice/stopped.service/cgroup.procs", ""),
        ];
        for unit in ["nginx", "nginx.service"] {
            assert_eq!(found(&files, &Service::Unit(unit.into())), Ok((vec![7, 8, 9], Some(5000))));
        }
        for path in ["/sys/fs/cgroup/system.slice/nginx.service/worker", "/system.slice/nginx.service/worker"] {
            assert_eq!(found(&files, &Service::Cgroup(path.into())), Ok((vec![9], None)));
        }
        let refused = |service: Service| found(&files, &service).unwrap_err();
        let none = "no running unit is called so; `systemctl list-units --state=running` lists them";
        assert_eq!(refused(Service::Unit("stopped".into())), format!("--unit stopped: {none}"));
        let none = "no process is in it, or in a group below it";
        let stopped = "/system.slice/stopped.service";
        assert_eq!(refused(Service::Cgroup(stopped.into())), format!("--cgroup {stopped}: {none}"));
        assert!(refused(Service::Cgroup("/nowhere".into())).contains("it is not a control group"));
    }

    #[test]
    fn units_of_several_users_are_named() {
        let unit = |user: &str| format!("sys/fs/cgroup/user.slice/{user}/a.service/cgroup.procs");
        let (one, two) = (unit("1"), unit("2"));
        let refused = found(&[(&one, "1\n"), (&two, "2\n")], &Service::Unit("a".into())).unwrap_err();
        assert!(refused.contains("2 groups are called so") && refused.contains("/user.slice/2/a.service"), "{refused}");
    }

    #[test]
    fn a_container_is_found_by_name_and_by_id() {
        let config = format!("var/lib/docker/containers/{ID}/config.v2.json");
        let podman = format!("[{{\"id\":\"{ID}\",\"names\":[\"web\"]}}]");
        for (place, told, name) in [
            (format!("docker/{ID}"), Some((config.as_str(), "{\"Name\":\"/web\"}")), "web"),
            (format!("system.slice/docker-{ID}.scope"), Some((config.as_str(), "{\"Name\":\"/web\"}")), "web"),
            (
                format!("machine.slice/libpod-{ID}.scope"),
                Some(("var/lib/containers/storage/overlay-containers/containers.json", podman.as_str())),
                "web",
            ),
            (format!("k8s.io/{ID}"), Some(("var/lib/nerdctl/1/names/k8s.io/web", ID)), "web"),
            (format!("kubepods.slice/cri-containerd-{ID}.scope"), None, &ID[..12]),
            ("web".to_owned(), None, "web"),
        ] {
            let procs = format!("sys/fs/cgroup/{place}/cgroup.procs");
            let monitor = format!("sys/fs/cgroup/machine.slice/libpod-conmon-{ID}.scope/cgroup.procs");
            let mut files = vec![(procs.as_str(), "7\n"), (monitor.as_str(), "8\n")];
            files.extend(told);
            assert_eq!(found(&files, &Service::Container(name.into())).map(|seen| seen.0), Ok(vec![7]), "{place}");
        }
        let none = found(&[], &Service::Container("web".into())).unwrap_err();
        assert!(none.starts_with("--container web: no running container is called so"), "{none}");
    }
}
