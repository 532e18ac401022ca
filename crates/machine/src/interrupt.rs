//! The user's wish to stop.

use crate::os;

/// Set once the user wants to stop, and then for good. Whoever waits by it is woken.
#[derive(Debug)]
pub struct Interrupt(pub(crate) os::interrupt::Interrupt);

impl Interrupt {
    /// From here on Ctrl-C, or the system's request to end, sets it instead of ending the process;
    /// a second one ends it at once.
    ///
    /// # Errors
    /// The system has no means for it.
    pub fn on_request() -> std::io::Result<Self> {
        os::interrupt::Interrupt::on_request().map(Self)
    }
}

/// Ends the process by Ctrl-C, if that was pressed while somebody heeded it: a shell ends its loop
/// only if its program ended so. All must be done by now.
pub fn end_as_asked() {
    os::interrupt::end_as_asked();
}

/// A file that reaches the largest size allowed to this process (`ulimit -f`) is an error of the
/// one who writes it, and no longer ends the process.
pub fn full_files_are_errors() {
    os::interrupt::full_files_are_errors();
}
