//! Memory before and after, for experiment footprint: the kernel's figures, in bytes.

use std::fs;

/// What is in use at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Memory {
    /// Of this process, in memory.
    resident: i64,
    /// Of this process, mapped.
    mapped: i64,
    /// Of the whole system, neither free nor a process's pages nor cached files: the kernel's own.
    kernel: Option<i64>,
}

impl Memory {
    pub(crate) fn read() -> Option<Self> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let system = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kernel = || {
            // Page tables, slabs, stacks and pages that a driver took for itself have no common count, but this rest.
            let of = |name| field(&system, name);
            Some(of("MemTotal:")? - of("MemFree:")? - of("Buffers:")? - of("Cached:")? - of("AnonPages:")?)
        };
        let (resident, mapped) = (field(&status, "VmRSS:")?, field(&status, "VmSize:")?);
        Some(Self { resident, mapped, kernel: kernel() })
    }

    /// Name of the quantity and growth since `before`.
    pub(crate) fn since(&self, before: &Self) -> [(&'static str, Option<i64>); 3] {
        let kernel = self.kernel.zip(before.kernel).map(|(after, before)| after - before);
        [
            ("resident_bytes", Some(self.resident - before.resident)),
            ("virtual_bytes", Some(self.mapped - before.mapped)),
            ("kernel_bytes", kernel),
        ]
    }
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
    #[cfg(target_os = "linux")]
    fn touched_pages_are_seen() {
        let before = Memory::read().unwrap();
        let pages = std::hint::black_box(vec![1_u8; 64 << 20]);
        let grown = Memory::read().unwrap().since(&before);
        assert!(grown[0].1.unwrap() > 60 << 20 && grown[1].1.unwrap() > 60 << 20, "{grown:?}");
        drop(pages);
    }
}
