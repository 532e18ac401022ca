//! Memory before and after, for experiment footprint: the kernel's figures, in bytes.

use crate::os::{page_bytes, zeroed_pages};
use crate::refusal::Refusal;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::thread::sleep;
use std::time::Duration;

/// What is in use at one moment, or the growth between two.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Memory {
    /// Of this process, in memory: a walk of the page tables, where VmRSS is only approximate.
    resident: i64,
    /// Of this process, mapped.
    mapped: i64,
    /// The kernel's own.
    kernel: i64,
}

/// Which of the kernel's own memory is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kernel {
    /// This process's page tables.
    PageTables,
    /// All that the whole system has neither free nor as a process's pages nor as cached files:
    /// what drivers take has no count of its own, but is in this rest. Pages in the free lists of
    /// the CPUs are also free, though MemFree leaves them out; since Linux 6.7 these lists grow to
    /// hundreds of megabytes.
    WholeSystem,
}

impl Kernel {
    /// For the reader of the figure.
    pub(crate) fn note(self) -> &'static str {
        match self {
            Self::PageTables => "kernel_bytes is the change of this process's page tables (VmPTE)",
            Self::WholeSystem => {
                "kernel_bytes is the change of all that the kernel uses on this machine: other work shows in it"
            }
        }
    }
}

/// Name of a quantity and how to get it.
type Quantity = (&'static str, fn(&Memory) -> i64);

impl Memory {
    pub(crate) const QUANTITIES: [Quantity; 3] = [
        ("resident_bytes", |memory| memory.resident),
        ("virtual_bytes", |memory| memory.mapped),
        ("kernel_bytes", |memory| memory.kernel),
    ];

    pub(crate) fn read(kernel: Kernel) -> Option<Self> {
        let rollup = fs::read_to_string("/proc/self/smaps_rollup").ok()?;
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let kernel = match kernel {
            Kernel::PageTables => field(&status, "VmPTE:")?,
            Kernel::WholeSystem => {
                let system = fs::read_to_string("/proc/meminfo").ok()?;
                let of = |name| field(&system, name);
                let lists = pages_in_free_lists_of_cpus(&fs::read_to_string("/proc/zoneinfo").ok()?) * page_bytes()?;
                of("MemTotal:")? - of("MemFree:")? - lists - of("Buffers:")? - of("Cached:")? - of("AnonPages:")?
            }
        };
        Some(Self { resident: field(&rollup, "Rss:")?, mapped: field(&status, "VmSize:")?, kernel })
    }

    /// As `read`, once the kernel has given back what ended before: it does so up to a second
    /// later.
    pub(crate) fn read_settled(kernel: Kernel) -> Option<Self> {
        const QUIET_ENOUGH: u32 = 5;
        const NOISE: i64 = 64 << 10;
        let mut last = Self::read(kernel)?;
        let mut quiet = 0;
        for _ in 0..100 {
            if quiet == QUIET_ENOUGH {
                break;
            }
            sleep(Duration::from_millis(10));
            let now = Self::read(kernel)?;
            quiet = if now.kernel > last.kernel - NOISE { quiet + 1 } else { 0 };
            last = now;
        }
        Some(last)
    }

    /// Growth since `before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            resident: self.resident - before.resident,
            mapped: self.mapped - before.mapped,
            kernel: self.kernel - before.kernel,
        }
    }
}

/// An error when touching `bytes` would need more than four fifths of the memory that there is: the
/// kernel's out-of-memory killer gives no reason and no cure.
///
/// # Errors
/// `limit_reached`; `cure` ends the sentence.
pub fn require_memory(bytes: u64, cure: &str) -> Result<(), Refusal> {
    let Some(available) = available().filter(|available| bytes > available / 5 * 4) else { return Ok(()) };
    let detail =
        format!("about {} MB of memory would be touched and {} MB are available; {cure}", bytes >> 20, available >> 20);
    Err(Refusal::unsupported("limit_reached", detail))
}

/// Fresh zeroed pages that last until the process ends. Small ones: a transparent huge page would
/// make the footprint and the behaviour of the TLB a matter of luck. They cost nothing until they
/// are touched.
///
/// # Errors
/// `limit_reached`; `cure` ends the sentence.
pub fn map_pages(bytes: usize, cure: &str) -> Result<&'static [AtomicU64], Refusal> {
    zeroed_pages(bytes).map_err(|error| {
        let detail = format!("the system refused a mapping of {bytes} bytes ({error}); {cure}");
        Refusal::unsupported("limit_reached", detail)
    })
}

/// Bytes that this process may still take: what the kernel believes to be available, at most the
/// limit of its control group. None where it cannot be told.
fn available() -> Option<u64> {
    let free = field(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")? as u64;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let version_1 = controllers == "memory";
        (version_1 || controllers.is_empty()).then(|| limit_of_group(version_1, path))?
    });
    Some(limits.fold(free, u64::min))
}

/// The least of the group's and of those above it, up to the root, where a container has its own.
fn limit_of_group(version_1: bool, path: &str) -> Option<u64> {
    let (root, file) = if version_1 { ("/memory", "memory.limit_in_bytes") } else { ("", "memory.max") };
    least_limit(Path::new(&format!("/sys/fs/cgroup{root}")), path, file)
}

fn least_limit(root: &Path, group: &str, file: &str) -> Option<u64> {
    let groups = Path::new(group.trim_start_matches('/')).ancestors();
    let read = |group: &Path| fs::read_to_string(root.join(group).join(file)).ok()?.trim().parse().ok();
    groups.filter_map(read).min()
}

/// Pages that each CPU keeps at hand, out of /proc/zoneinfo.
fn pages_in_free_lists_of_cpus(zones: &str) -> i64 {
    zones.lines().filter_map(|line| line.trim_start().strip_prefix("count:")?.trim().parse::<i64>().ok()).sum()
}

/// The figure of a line such as `MemFree:   123 kB`, in bytes.
fn field(text: &str, name: &str) -> Option<i64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse::<i64>().ok().map(|kibibytes| kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_kibibytes() {
        assert_eq!(field("Name: x\nVmRSS:\t  12 kB\n", "VmRSS:"), Some(12 * 1024));
        assert_eq!(field("VmRSS:\n", "VmRSS:"), None);
    }

    #[test]
    fn the_limit_of_an_outer_group_counts() {
        let root = std::env::temp_dir().join(format!("switchcost-groups-{}", std::process::id()));
        fs::create_dir_all(root.join("a/b")).unwrap();
        let limit = |group: &str, text: &str| fs::write(root.join(group).join("memory.max"), text).unwrap();
        limit("a/b", "max\n");
        limit("a", "40\n");
        assert_eq!(least_limit(&root, "/a/b", "memory.max"), Some(40));
        limit("", "30");
        assert_eq!(least_limit(&root, "/a/b", "memory.max"), Some(30));
        assert_eq!(least_limit(&root, "/a/b", "pids.max"), None);
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn free_pages_of_the_cpus_are_summed_over_cpus_and_zones() {
        let zones = "Node 0, zone  DMA\n  pagesets\n    cpu: 0\n              count:    3\n              high:  14\n\
                     Node 0, zone  Normal\n    cpu: 0\n              count: 5\n    cpu: 1\n              count: 7\n";
        assert_eq!(pages_in_free_lists_of_cpus(zones), 15);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn touched_pages_are_seen() {
        let before = Memory::read(Kernel::PageTables).unwrap();
        let pages = std::hint::black_box(vec![1_u8; 64 << 20]);
        let grown = Memory::read(Kernel::PageTables).unwrap().since(&before);
        assert!(grown.resident > 60 << 20 && grown.mapped > 60 << 20, "{grown:?}");
        drop(pages);
    }
}
