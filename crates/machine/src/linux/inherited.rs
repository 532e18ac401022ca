//! What a process inherits over exec, and what becomes of it: the table of
//! docs/notebook/inherited.md.

use super::scheduling;
use rustix::io::Errno;
use std::io;
use std::mem::MaybeUninit;

/// ns by which the kernel may end sleeps late, as it is for a process that nobody changed.
const USUAL_SLACK_NS: libc::c_ulong = 50_000;

/// Permissions that files of a probe lack: whoever may start it may enter what it makes, and nobody
/// else may change that.
const USUAL_UMASK: u32 = 0o022;

/// `PR_SET_MEMORY_MERGE` of Linux 6.4, which the C library may not know yet.
const SET_MEMORY_MERGE: libc::c_int = 67;

/// See [`crate::spawn::forget_inherited`]. What the system refuses stays as it is, and is among the
/// facts.
pub(crate) fn forget_inherited() {
    let mut nothing_blocked = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: an all-zero itimerval is a timer that is not set.
    let no_timer: libc::itimerval = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: called before there is another thread or a handler. The calls read what they are
    // given, which lives until then, and write to the set alone.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::sigemptyset(nothing_blocked.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, nothing_blocked.as_ptr(), std::ptr::null_mut());
        for timer in [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF] {
            libc::setitimer(timer, &raw const no_timer, std::ptr::null_mut());
        }
    }
    scheduling::leave_class();
    // SAFETY: calls on numbers. They change what programs started from here on are like; of this
    // one its timers, the merging and size of its pages, and whether it may read the time stamp
    // counter.
    unsafe {
        libc::personality(0);
        for (option, value) in [
            (libc::PR_SET_TIMERSLACK, USUAL_SLACK_NS),
            (libc::PR_SET_THP_DISABLE, 0),
            (SET_MEMORY_MERGE, 0),
            #[cfg(target_arch = "x86_64")]
            (libc::PR_SET_TSC, libc::PR_TSC_ENABLE as libc::c_ulong),
        ] {
            libc::prctl(option, value, 0, 0, 0);
        }
    }
}

/// What a child gives up between fork and exec of what the host has, beside what `SpawnRequest`
/// sets. Async-signal-safe.
pub(super) fn begin_anew() -> io::Result<()> {
    // A session of its own: nothing of it can join a group of the host's, or reach its terminal.
    rustix::process::setsid().map_err(|error: Errno| io::Error::from(error))?;
    default_signals();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(USUAL_UMASK));
    leave_no_dump();
    Ok(())
}

/// A crash writes no memory to the folder of the probe, which is the installation; there the
/// kernel's pattern may have it.
fn leave_no_dump() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Core).maximum;
    // None is never more than a limit allows.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
}

/// Every signal acts as by default. Exec resets handlers, but what the host ignores (nohup: SIGHUP)
/// stays ignored. By system call, because the C library refuses to touch signals 32 and 33, and
/// programs that start the host have been seen to ignore 32.
fn default_signals() {
    const BYTES_OF_A_MASK: usize = 8;
    // The kernel's `struct sigaction` of any architecture fits; all zero is SIG_DFL without flags.
    let default = [0_u64; 8];
    for signal in 1..=64 {
        // SAFETY: the kernel reads the structure, which is larger than needed, and writes nothing
        // (no old action is asked for). No handler is installed. For SIGKILL and SIGSTOP it fails,
        // harmlessly.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                std::ptr::null_mut::<u64>(),
                BYTES_OF_A_MASK,
            )
        };
    }
}

/// Marks descriptors first..=last to be closed at exec (not now: std still needs one to tell of a
/// failed exec).
pub(super) fn close_on_exec(first: i32, last: i32) {
    if first > last {
        return;
    }
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
    // SAFETY: a system call on integers; it only sets a flag of descriptors of the child.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, first, last, CLOSE_RANGE_CLOEXEC) };
    if answer == 0 {
        return;
    }
    // Before Linux 5.11, or where a filter forbids it: one by one. Higher numbers exist only if
    // somebody asked for them.
    for fd in first..=last.min(65_535) {
        // SAFETY: async-signal-safe; sets a flag of a descriptor of the child, or fails because
        // there is none.
        unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}
