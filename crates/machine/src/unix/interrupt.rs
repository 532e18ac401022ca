//! Signals, told by a descriptor.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// Ctrl-C was pressed, and heard.
static PRESSED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// See [`crate::interrupt::end_as_asked`].
pub(crate) fn end_as_asked() {
    if PRESSED.load(Ordering::Relaxed) {
        let _ = signal_hook::low_level::emulate_default_handler(SIGINT);
    }
}

/// A descriptor that becomes readable; nobody reads it, so it stays so.
#[derive(Debug)]
pub(crate) struct Interrupt(UnixStream);

impl Interrupt {
    /// On Ctrl-C, SIGTERM, and a terminal that closes; a second one ends the process at once.
    pub(crate) fn on_request() -> io::Result<Self> {
        let (reader, writer) = UnixStream::pair()?;
        let stopping = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGINT, PRESSED.clone())?;
        let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
            signal_hook::flag::register_conditional_default(signal, stopping.clone())?;
            signal_hook::flag::register(signal, stopping.clone())?;
            signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
        }
        Ok(Self(reader))
    }

    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing is waited for where nothing is started"))]
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Was the signal ignored when this process was started, as by nohup?
fn is_ignored(signal: i32) -> bool {
    // SAFETY: without a new action the call only writes the present one to memory of ours.
    let mut now = unsafe { std::mem::zeroed::<libc::sigaction>() };
    // SAFETY: as above.
    let known = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) } == 0;
    known && now.sa_sigaction == libc::SIG_IGN
}

/// See [`crate::interrupt::full_files_are_errors`].
pub(crate) fn full_files_are_errors() {
    // A handler, because programs that are started would inherit that a signal is ignored. Without
    // one the system's own way remains.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}
