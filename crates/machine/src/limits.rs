//! Limits of this session that are so low that a runtime may not even start, which then says
//! anything but that.

use std::fs;
use switchcost_model::{TightLimit, TightLimits};

/// Line of /proc/PID/limits, name, how it is raised, and below what it is tight: what starts a
/// handful of threads or opens a handful of libraries may be refused, Python needs a stack of 1
/// MiB, and V8 reserves 4 GiB of addresses. A run of ten batches takes seconds.
const LIMITS: [(&str, &str, &str, u64); 6] = [
    ("Max open files", "RLIMIT_NOFILE", "ulimit -n", 64),
    ("Max processes", "RLIMIT_NPROC", "ulimit -u", 64),
    ("Max stack size", "RLIMIT_STACK", "ulimit -s", 1 << 20),
    ("Max address space", "RLIMIT_AS", "ulimit -v", 8 << 30),
    ("Max data size", "RLIMIT_DATA", "ulimit -d", 1 << 30),
    ("Max cpu time", "RLIMIT_CPU", "ulimit -t", 10),
];

/// Stack that commands get along with, bytes: to read the arguments alone takes more than 64 KiB.
#[cfg(target_os = "linux")]
const STACK: usize = 2 * 1024 * 1024;

/// The limits that may be why something failed here. Empty where none is low, or nobody tells.
#[must_use]
pub fn tight_limits() -> TightLimits {
    fs::read_to_string("/proc/self/limits").map(|limits| tight(&limits)).unwrap_or_default()
}

/// Runs it on a stack that is large enough, also where the session grants a small one only (`ulimit
/// -s`): who overflows that is ended by a signal.
pub fn with_room<T: Send>(work: impl Fn() -> T + Sync) -> T {
    #[cfg(target_os = "linux")]
    if rustix::process::getrlimit(rustix::process::Resource::Stack).current.is_some_and(|stack| stack < STACK as u64) {
        return std::thread::scope(|scope| {
            match std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, &work) {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(_) => work(),
            }
        });
    }
    work()
}

/// Those that are tight in the text of /proc/PID/limits.
pub fn tight(limits: &str) -> TightLimits {
    let low = LIMITS.iter().filter_map(|(line, limit, command, least)| {
        let rest = limits.lines().find_map(|found| found.strip_prefix(line))?;
        let value: u64 = rest.split_whitespace().next()?.parse().ok()?; // "unlimited" is not a number.
        (value < *least).then(|| TightLimit { limit: (*limit).into(), value, command: (*command).into() })
    });
    TightLimits(low.collect())
}

#[cfg(test)]
mod tests {
    use super::tight;

    #[test]
    fn only_low_limits_are_named() {
        let limits = |processes: &str, files: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max processes             {processes}                6                    processes \n\
                 Max open files            {files}                   16                   files     \n"
            )
        };
        assert_eq!(tight(&limits("unlimited", "1024")).to_string(), "");
        assert_eq!(tight("").to_string(), "");
        let stack = "Max stack size            65536                unlimited            bytes\nMax cpu time              unlimited            unlimited            seconds\n";
        assert!(tight(stack).to_string().ends_with("may be why: RLIMIT_STACK = 65536 (raise it with ulimit -s)"));
        assert_eq!(
            tight(&limits("6", "16")).to_string(),
            "; a limit of this session may be why: RLIMIT_NOFILE = 16 (raise it with ulimit -n), RLIMIT_NPROC = 6 (raise it with ulimit -u)"
        );
    }
}
