//! Calls that rustix has no safe form of. The only unsafe code beside `spawn.rs`.

use std::cmp::Ordering;
use std::mem::MaybeUninit;

/// Resources used by processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub user_ns: u64,
    pub system_ns: u64,
    pub voluntary: u64,
    pub involuntary: u64,
    pub max_rss: u64,
    pub page_faults: u64,
}

impl Usage {
    fn of(raw: &libc::rusage) -> Self {
        let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
        Self {
            user_ns: ns(raw.ru_utime),
            system_ns: ns(raw.ru_stime),
            voluntary: raw.ru_nvcsw as u64,
            involuntary: raw.ru_nivcsw as u64,
            max_rss: raw.ru_maxrss as u64 * 1024,
            page_faults: raw.ru_minflt as u64 + raw.ru_majflt as u64,
        }
    }

    /// Both together; the larger of two residents, as the kernel does it.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            user_ns: self.user_ns + other.user_ns,
            system_ns: self.system_ns + other.system_ns,
            voluntary: self.voluntary + other.voluntary,
            involuntary: self.involuntary + other.involuntary,
            max_rss: self.max_rss.max(other.max_rss),
            page_faults: self.page_faults + other.page_faults,
        }
    }
}

/// Sleeps until a child of whatever kind (`__WALL`) has ended, and reaps it: its wait status and
/// what it and its reaped children used.
///
/// # Errors
/// `ECHILD`: it is not a child of this process, or not any more.
pub(crate) fn reap(pid: i32) -> std::io::Result<(i32, Usage)> {
    wait4(pid, 0).map(|(_, status, usage)| (status, usage))
}

/// As [`reap`], but without sleeping. None: it has not ended.
///
/// # Errors
/// As of [`reap`].
pub(crate) fn reap_if_ended(pid: i32) -> std::io::Result<Option<(i32, Usage)>> {
    wait4(pid, libc::WNOHANG).map(|(reaped, status, usage)| (reaped != 0).then_some((status, usage)))
}

/// Whether memory that this process wrote may become executable: systemd's MemoryDenyWriteExecute,
/// SELinux and others forbid it, and a runtime that compiles while it runs then ends at once.
pub(crate) fn may_execute_what_it_wrote() -> bool {
    let (written, size) = (libc::PROT_READ | libc::PROT_WRITE, rustix::param::page_size());
    // SAFETY: a new mapping, of nobody's memory.
    let page =
        unsafe { libc::mmap(std::ptr::null_mut(), size, written, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    if page == libc::MAP_FAILED {
        return true;
    }
    // SAFETY: nothing but this function knows the page.
    let may = unsafe { libc::mprotect(page, size, libc::PROT_READ | libc::PROT_EXEC) } == 0;
    // SAFETY: as above, and nothing refers to it any more.
    unsafe { libc::munmap(page, size) };
    may
}

/// The call: its answer, the wait status and the usage.
fn wait4(pid: i32, options: i32) -> std::io::Result<(i32, i32, Usage)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are to live, writable memory of the type that wait4 writes; pid is
        // only looked up.
        let answer = unsafe { libc::wait4(pid, &raw mut status, libc::__WALL | options, usage.as_mut_ptr()) };
        if answer >= 0 {
            // SAFETY: rusage consists of integers, so the zeroes put there are a value even if
            // wait4 wrote nothing.
            return Ok((answer, status, Usage::of(unsafe { usage.assume_init_ref() })));
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Compares the address spaces of two processes, in an order that is the kernel's own.
///
/// # Errors
/// `ESRCH`: one of them has ended; others: the kernel cannot compare, or may not for this user.
pub(crate) fn compare_memory(a: i32, b: i32) -> std::io::Result<Ordering> {
    const KCMP_VM: libc::c_int = 1;
    // SAFETY: a system call on integers; it reads the two tasks and writes nothing.
    match unsafe { libc::syscall(libc::SYS_kcmp, a, b, KCMP_VM, 0_u64, 0_u64) } {
        0 => Ok(Ordering::Equal),
        1 => Ok(Ordering::Less),
        2 => Ok(Ordering::Greater),
        -1 => Err(std::io::Error::last_os_error()),
        _ => Err(std::io::ErrorKind::Unsupported.into()),
    }
}

/// CPU time used by this process so far, ns.
pub(crate) fn own_cpu_ns() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to live, writable memory of the type that getrusage writes.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    // SAFETY: rusage consists of integers, so the zeroes put there are a value even if the call
    // wrote nothing.
    let usage = Usage::of(unsafe { usage.assume_init_ref() });
    usage.user_ns + usage.system_ns
}

/// The C library of the host.
pub(crate) fn libc_version() -> String {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: glibc returns a pointer to a constant, null-terminated string that lives as long
        // as the process.
        let text = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        format!("glibc {}", text.to_string_lossy())
    }
    #[cfg(target_env = "musl")]
    {
        "musl, linked statically into the host".to_owned()
    }
    #[cfg(not(any(target_env = "gnu", target_env = "musl")))]
    {
        switchcost_model::unknown("the host is linked against neither glibc nor musl")
    }
}

/// One leaf of the cpuid instruction: eax, ebx, ecx, edx.
pub(crate) type Leaf = [u32; 4];

/// A leaf of cpuid; None above the highest leaf of its range, or where there is no such
/// instruction.
pub(crate) fn cpuid(leaf: u32) -> Option<Leaf> {
    #[cfg(target_arch = "x86_64")]
    {
        let range = leaf & 0xc000_0000;
        #[allow(unused_unsafe, reason = "safe from Rust 1.94 on")]
        // SAFETY: every x86-64 CPU has the instruction; it reads registers only.
        let (highest, answer) = unsafe { (std::arch::x86_64::__cpuid(range), std::arch::x86_64::__cpuid(leaf)) };
        (highest.eax >= leaf && highest.eax & 0xc000_0000 == range)
            .then_some([answer.eax, answer.ebx, answer.ecx, answer.edx])
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = leaf;
        None
    }
}

/// The time stamp counter, read after all that stands before it; None where there is none.
pub(crate) fn tsc() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 CPU has both instructions, and Linux leaves the counter allowed to
        // programs unless they forbid it to themselves (PR_SET_TSC), which the host does not. RDTSC
        // alone may run ahead; LFENCE waits.
        Some(unsafe {
            std::arch::x86_64::_mm_lfence();
            std::arch::x86_64::_rdtsc()
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        None
    }
}
