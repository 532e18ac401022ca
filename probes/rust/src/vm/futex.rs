//! Waiting for a word and waking who waits for it, between threads of this process.

use std::sync::atomic::AtomicU32;

/// Sleeps while the word is `value`; comes back without reason at times, also for signals.
pub fn wait(word: &AtomicU32, value: u32) {
    let no_limit = std::ptr::null::<libc::timespec>();
    // SAFETY: the word lives during the call; the kernel compares it and writes nothing.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, value, no_limit)
    };
}

/// Wakes one thread that sleeps on the word.
pub fn wake(word: &AtomicU32) {
    // SAFETY: the address is only looked up.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1) };
}
